/* Where the campaign stands: the headline in words, the gauge, and the tiles beside it. */

import { count, decimal, known, linear, percent, roll, several, svg } from "../organiser/drawing.js";

const share = (value, digits = 1) => percent(value, digits);

/* What each kind of goal measures. `arc` puts a value on the gauge, 0 to 1. */
const GOALS = {
  order: { name: "Order right", about: "for two systems, on average", show: share, arc: (v) => (v - 0.5) * 2, bounded: true },
  winner: { name: "Winner right", about: "probability that no other is better by more than the tie", show: share, arc: (v) => v, bounded: true },
  top: { name: "First systems right", about: "probability that no other is better by more than the tie", show: share, arc: (v) => v, bounded: true },
  every: { name: "Least sure pair", about: "probability that its order is right", show: share, arc: (v) => (v - 0.5) * 2, bounded: true },
  tau_ap: { name: "Expected AP correlation", about: "with the true ranking", show: (v) => decimal(v, 3), arc: (v) => v, bounded: true },
  scores: { name: "Scores within", about: "half of the widest 95 % interval", show: (v) => `±${decimal(v, 3)}`, arc: (v, wanted) => wanted / Math.max(v, wanted), bounded: true, falling: true },
  confidence: { name: "Mean confidence", about: "in the order of any two systems", show: share, arc: (v) => (v - 0.5) * 2, bounded: true },
  pairs: { name: "Least sure pair", about: "confidence in the pair known worst", show: share, arc: (v) => (v - 0.5) * 2, bounded: true },
  tau: { name: "Expected τ", about: "correlation with the true ranking", show: (v) => decimal(v, 3), arc: (v) => v, bounded: true },
  error: { name: "Scores within", about: "half of a typical 95 % interval", show: (v) => `±${decimal(v, 3)}`, arc: (v, wanted) => wanted / Math.max(v, wanted), bounded: true, falling: true },
  everything: { name: "Judged", about: "of all candidates", show: share, arc: (v) => v, bounded: false },
};

/** How to speak of a campaign's goal. */
export const goalWords = (kind) => GOALS[kind] ?? GOALS.order;

/** One sentence about how far it is. */
export function headline(picture) {
  const { status, projection, saved } = picture;
  const judged = `${count(status.judged)} of ${count(status.candidates)} judged`;
  if (picture.campaign?.state === "closed" && !status.done) return `${judged}; closed before the goal was reached`;
  return [judged, toGo(status, projection), spared(status, saved)].filter(Boolean).join("; ");
}

/** What nobody has to judge: a forecast until the goal is reached. */
function spared(status, saved) {
  if (!known(saved) || saved <= 0) return null;
  const judgments = several(saved, "judgment");
  return status.done ? `${judgments} saved` : `that would save ${judgments}`;
}

function toGo(status, projection) {
  if (status.done) return "the goal is reached";
  if (status.kind === "everything") return `${count(status.candidates - status.judged)} to go`;
  if (!known(projection.remaining)) return projection.why ?? "too early to say how many more";
  const range = known(projection.low) && known(projection.high) && projection.high > projection.low;
  return `about ${count(projection.remaining)} more to the goal${range ? ` (${count(projection.low)}\u2060–\u2060${count(projection.high)})` : ""}`;
}

/** An arc of three quarters of a circle, with a notch where the goal is. */
export function drawGauge(place, picture) {
  const words = goalWords(picture.status.kind);
  const { value, wanted } = picture.status;
  const at = clamp(known(value) ? words.arc(value, wanted) : 0);
  const aim = clamp(words.arc(wanted, wanted));
  const drawing = svg(
    "svg",
    { viewBox: "0 0 200 168", role: "img", class: `gauge ${picture.status.done ? "done" : ""}`, "aria-label": gaugeWords(words, value, wanted) },
    svg("path", { d: arc(0, 1, 80), class: "track" }),
    at > 0.002 && svg("path", { d: arc(0, at, 80), class: "filled" }),
    aim < 0.999 && notch(aim),
    svg("text", { x: 100, y: 104, "text-anchor": "middle", class: "big" }, known(value) ? words.show(value) : "–"),
    svg("text", { x: 100, y: 126, "text-anchor": "middle", class: "under" }, words.bounded ? `goal ${words.show(wanted, Number.isInteger(Math.round(wanted * 1e6) / 1e4) ? 0 : 1)}` : "goal: everything"),
  );
  place.replaceChildren(drawing);
}

const clamp = (part) => Math.max(0, Math.min(1, part));
const gaugeWords = (words, value, wanted) =>
  `${words.name} ${words.about}: ${known(value) ? words.show(value) : "not known yet"}; the goal is ${words.show(wanted)}.`;

function spot(part, radius) {
  const angle = linear([0, 1], [Math.PI * 0.8, Math.PI * 2.2])(part);
  return [100 + radius * Math.cos(angle), 96 + radius * Math.sin(angle)];
}

function arc(from, to, radius) {
  const [x1, y1] = spot(from, radius);
  const [x2, y2] = spot(to, radius);
  const large = to - from > 5 / 7 ? 1 : 0;
  return `M ${x1} ${y1} A ${radius} ${radius} 0 ${large} 1 ${x2} ${y2}`;
}

function notch(part) {
  const [x1, y1] = spot(part, 70);
  const [x2, y2] = spot(part, 92);
  return svg("line", { x1, y1, x2, y2, class: "notch" });
}

/** The four numbers that an organiser asks for. */
export function drawTiles(tiles, picture) {
  const { status, projection, saved } = picture;
  roll(tiles.judged, status.judged);
  tiles.judgedNote.textContent = `of ${count(status.candidates)} candidates`;
  const left = status.done ? 0 : status.kind === "everything" ? status.candidates - status.judged : projection.remaining;
  roll(tiles.left, left);
  tiles.leftNote.textContent = leftNote(status, projection);
  roll(tiles.saved, known(saved) && saved > 0 ? saved : null);
  tiles.savedName.textContent = status.done ? "Judgments saved" : "Saved at the goal, about";
  tiles.savedNote.textContent = savedNote(status, saved);
  const live = picture.assessors.filter((person) => person.live).length;
  roll(tiles.live, live);
  tiles.liveNote.textContent = `of ${several(picture.assessors.length, "assessor")}`;
}

function savedNote(status, saved) {
  if (!known(saved) || !status.candidates) return "judgments that nobody has to make";
  const share = percent(Math.max(0, saved) / status.candidates);
  return status.done ? `${share} that nobody has to judge` : `${share} that nobody would have to judge`;
}

function leftNote(status, projection) {
  if (status.done) return "the goal is reached";
  const range = known(projection.low) && known(projection.high) && projection.high > projection.low;
  const between = range ? `between ${count(projection.low)} and ${count(projection.high)}` : "";
  const hours = known(projection.hours) ? `${hoursOf(projection.hours)} at this pace` : "";
  return [between, hours].filter(Boolean).join("; ") || projection.why || "more to the goal";
}

function hoursOf(hours) {
  if (hours < 1) return `${Math.max(1, Math.round(hours * 60))} min`;
  return hours < 48 ? `${Math.round(hours * 10) / 10} h` : `${Math.round(hours / 24)} days`;
}
