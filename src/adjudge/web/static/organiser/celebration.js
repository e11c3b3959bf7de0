/* A second of confetti when the goal is reached while somebody watches; none where motion is not wanted. */

import { calm, svg } from "./drawing.js";

const COLOURS = ["c0", "c1", "c2", "c3"];

/** Throw confetti over the page; it takes no clicks and is gone soon. */
export function celebrate(page) {
  if (calm.matches) return;
  const sheet = svg("svg", { class: "confetti", "aria-hidden": "true" });
  page.append(sheet);
  const falls = Array.from({ length: 70 }, (_, i) => {
    const piece = svg("rect", { width: 7, height: 11, rx: 2, class: COLOURS[i % COLOURS.length] });
    sheet.append(piece);
    const from = innerWidth * (0.3 + 0.4 * Math.random());
    const to = from + (Math.random() - 0.5) * innerWidth * 0.9;
    const high = innerHeight * (0.1 + 0.35 * Math.random());
    return piece.animate(
      [
        { transform: `translate(${from}px, ${innerHeight * 0.55}px) rotate(0)`, opacity: 1 },
        { transform: `translate(${(from + to) / 2}px, ${high}px) rotate(${360 * Math.random()}deg)`, opacity: 1, offset: 0.4 },
        { transform: `translate(${to}px, ${innerHeight + 30}px) rotate(${1080 * Math.random()}deg)`, opacity: 0.7 },
      ],
      { duration: 1600 + 1200 * Math.random(), easing: "cubic-bezier(.2,.6,.4,1)", fill: "forwards" },
    ).finished;
  });
  Promise.allSettled(falls).then(() => sheet.remove());
}
