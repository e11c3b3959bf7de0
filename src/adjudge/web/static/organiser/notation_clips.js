/* Notation on the organisers' pages: each place gets its drawing, and notes light up while its clip plays. */

import { draw } from "../shared/notation.js";

/** Draw into a place, and follow the clip beside it. */
export async function drawClip(place, item, audio, name) {
  try {
    const drawn = await draw(place, item, { name });
    if (audio === null) return;
    let frame = 0;
    const follow = () => {
      drawn.follow(audio.currentTime);
      frame = audio.paused ? 0 : requestAnimationFrame(follow);
    };
    audio.addEventListener("play", () => { if (frame === 0) follow(); });
    audio.addEventListener("ended", () => drawn.clear());
  } catch {
    place.textContent = "The drawing cannot be had just now.";
    place.classList.add("soft", "small");
  }
}

/* Drawings that the page came with; those inside something that is closed are drawn once they are seen. */
const seen = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting) continue;
    seen.unobserve(target);
    drawClip(target, { drawing_url: target.dataset.drawing }, target.parentElement.querySelector("audio"), target.dataset.name);
  }
}, { rootMargin: "200px" });
for (const place of document.querySelectorAll("[data-drawing]")) seen.observe(place);
