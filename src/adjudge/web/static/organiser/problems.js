/* What people skipped or said something about: listen, keep back, put back. */

import { html, several } from "./drawing.js";
import { drawClip } from "./notation_clips.js";
import { send, toast } from "./requests.js";

const REASONS = { broken: "does not play", cannot_tell: "cannot tell", known: "knew it", other: "another reason" };

/** `what` is what was asked about; `clipsOf(found)` are titles and items of what people heard of it. */
export function drawProblems(place, { problems }, { campaign, what, clipsOf }) {
  if (problems.length === 0) {
    place.replaceChildren(html("p", { class: "soft" }, `No ${what} was skipped or commented on. Good.`));
    return;
  }
  const playing = [...place.querySelectorAll("audio")].some((audio) => !audio.paused);
  const same = place.dataset.of === JSON.stringify(problems);
  if (playing || same) return; // do not cut off what the organiser listens to
  place.dataset.of = JSON.stringify(problems);
  place.replaceChildren(html("ul", { class: "problems" }, ...problems.map((problem) => problemItem(problem, campaign, clipsOf))));
}

function problemItem(problem, campaign, clipsOf) {
  const reasons = Object.entries(problem.reasons ?? {}).map(
    ([reason, n]) => `${REASONS[reason] ?? reason}${n > 1 ? ` (${n})` : ""}`,
  );
  const isQuery = problem.document === problem.query; // all its candidates are asked about
  const name = isQuery ? problem.query : `${problem.document} for ${problem.query}`;
  const tools = html("div", { class: "problem-tools" });
  const listen = html("button", { type: "button", class: "button small", "aria-label": `Listen to ${name}` }, "Listen");
  listen.addEventListener("click", async () => {
    const found = await fetchClips(campaign, problem);
    if (found === null) return;
    listen.replaceWith(...clipsOf(found).map(([title, item]) => shown(title, item)));
    tools.querySelector("audio")?.focus();
  });
  const word = problem.held ? "Put back" : "Keep back";
  const hold = () => changeHold(campaign, problem);
  tools.append(listen, html("button", { type: "button", class: "button small", "aria-label": `${word} ${name}`, onclick: hold }, word));
  return html(
    "li",
    { class: problem.held ? "held" : null },
    html(
      "div",
      { class: "problem-words" },
      html("strong", {}, problem.document),
      !isQuery && html("span", { class: "soft" }, ` for ${problem.query}`),
      problem.held && html("span", { class: "badge warn" }, "kept back"),
      problem.skips > 0 && html("p", { class: "small" }, `${several(problem.skips, "skip")}: ${reasons.join(", ")}`),
      ...(problem.comments ?? []).map((comment) => html("q", { class: "small soft" }, comment)),
    ),
    tools,
  );
}

/** Keep something back that people could not answer, or put it back. */
async function changeHold(campaign, { pair, held }) {
  const done = await send("POST", `/api/campaigns/${campaign}/pairs/${pair}/held`, { held: !held });
  if (done) toast(held ? "Put back: it will be asked again." : "Kept back: nobody is asked about it.");
}

/** Where the clips are; asked for when somebody wants to listen. */
async function fetchClips(campaign, { pair }) {
  try {
    const response = await fetch(`/campaigns/${campaign}/pairs/${pair}/clips`);
    if (response.ok) return await response.json();
  } catch {
    /* told below */
  }
  toast("The clips cannot be had just now.", "bad");
  return null;
}

/** What people heard, read or saw. */
function shown(title, item) {
  const { kind, url, text } = item;
  const inside = {
    notation: () => {
      const [place, audio] = [html("div", { class: "clip-drawing" }), html("audio", { src: url, controls: true, preload: "none", "aria-label": title })];
      drawClip(place, item, audio, title);
      return html("div", {}, place, audio);
    },
    audio: () => html("audio", { src: url, controls: true, preload: "metadata", "aria-label": title }),
    image: () => html("img", { src: url, alt: title }),
    text: () => html("p", {}, text),
    url: () => html("a", { href: url, rel: "noopener noreferrer", target: "_blank" }, url),
  };
  return html("figure", { class: "player" }, html("figcaption", { class: "small soft" }, title), inside[kind]());
}
