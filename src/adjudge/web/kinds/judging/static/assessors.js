/* Agreement between assessors, and each of them. */

import { count, decimal, html, known, lasting, linear, percent, several, signed, since, svg } from "../organiser/drawing.js";
import { drawPeopleTable, personHead } from "../organiser/tables.js";

const COEFFICIENTS = [
  ["alpha", "Krippendorff’s α"],
  ["fleiss", "Fleiss’ κ"],
  ["cohen", "Cohen’s κ, mean of pairs"],
];

/* What the literature makes of such values: Krippendorff 2004 for alpha, Landis and Koch 1977 for kappas. */
const ALPHA = [
  [0.8, "good", "Assessors agree: conclusions can rest on it."],
  [0.667, "fair", "Assessors agree well enough for tentative conclusions."],
  [0, "poor", "Assessors agree little: look at the instructions, and at who differs."],
  [-2, "poor", "Assessors disagree more than chance would make them."],
];
const KAPPA = [
  [0.8, "almost perfect"],
  [0.6, "substantial"],
  [0.4, "moderate"],
  [0.2, "fair"],
  [0, "slight"],
  [-2, "worse than chance"],
];

/** One block a scale: what the numbers mean first, then the numbers. */
export function drawAgreement(place, picture) {
  const scales = Object.entries(picture.agreement ?? {});
  if (scales.length === 0) {
    place.replaceChildren(html("p", { class: "soft" }, "Agreement shows when two assessors judged the same pairs."));
    return;
  }
  place.replaceChildren(...scales.map(([name, found]) => scaleBlock(name, found)));
}

function scaleBlock(name, found) {
  const alpha = found.alpha ?? {};
  const units = found.n_paired ?? found.n_units ?? 0;
  const level = known(alpha.value) ? ALPHA.find(([from]) => alpha.value >= from) : null;
  const meaning = level?.[2] ?? `Not known yet${alpha.reason ? `: ${alpha.reason}` : found.note ? `: ${found.note}` : ""}.`;
  const notes = level ? found.notes ?? [] : [];
  return html(
    "section",
    { class: "scale-block", "aria-label": `Agreement on ${name}` },
    html("h3", {}, name, html("span", { class: "soft small" }, ` ${several(units, "pair")} judged by two or more`)),
    html("p", { class: `meaning ${level?.[1] ?? ""}` }, meaning),
    level &&
      html(
        "table",
        { class: "table coefficients" },
        html("caption", { class: "visually-hidden" }, `Agreement coefficients on ${name}`),
        html("tbody", {}, ...COEFFICIENTS.map(([key, title]) => coefficient(key, title, found[key] ?? {}))),
      ),
    ...notes.map((note) => html("p", { class: "soft small" }, note)),
  );
}

function coefficient(key, title, { value, low, high, reason }) {
  const word = key === "alpha" || !known(value) ? "" : KAPPA.find(([from]) => value >= from)[1];
  const ends = known(low) && known(high) ? `${decimal(low, 2)} – ${decimal(high, 2)}` : "";
  return html(
    "tr",
    {},
    html("th", { scope: "row" }, title, word && html("span", { class: "soft small" }, ` ${word}`)),
    html("td", { class: "number strong" }, decimal(value, 2)),
    html("td", { class: "number soft" }, ends),
    html("td", { class: "plot" }, known(value) ? ruler(key, value, low, high) : html("span", { class: "soft small" }, reason ?? "")),
  );
}

function ruler(key, value, low, high) {
  const x = linear([-0.2, 1], [4, 156]);
  const marks = key === "alpha" ? [0.667, 0.8] : [0.4, 0.6, 0.8];
  const inside = (at) => Math.max(-0.2, Math.min(1, at));
  return svg(
    "svg",
    { viewBox: "0 0 160 22", class: "ruler", "aria-hidden": "true" },
    svg("line", { x1: 4, x2: 156, y1: 11, y2: 11, class: "base" }),
    ...[0, ...marks].map((at) => svg("line", { x1: x(at), x2: x(at), y1: 6, y2: 16, class: "grid" })),
    known(low) && svg("line", { x1: x(inside(low)), x2: x(inside(high)), y1: 11, y2: 11, class: "reach" }),
    svg("circle", { cx: x(inside(value)), cy: 11, r: 4.5, class: "spot" }),
  );
}

/** Who judges, how fast, how steadily. */
export function drawAssessors(place, picture) {
  const people = [...picture.assessors].sort((a, b) => Number(b.live) - Number(a.live) || b.answers - a.answers);
  const widest = Math.max(...people.map((person) => Math.abs(person.severity ?? 0)), 1e-9);
  drawPeopleTable(place, people, {
    label: "Table of assessors",
    heads: ["Assessor", "Answers", "Per hour", "Median time", "Heard", "Skips", "Says the same again", "Severity", "Reliability", "Seen"],
    row: (person) => assessorRow(person, widest),
    nobody: "Nobody judges yet.",
    most: Infinity,
  });
}

function assessorRow(person, widest) {
  const same = person.self_consistency;
  return html(
    "tr",
    { class: person.live ? "is-live" : null },
    personHead(
      person,
      person.live && html("span", { class: "visually-hidden" }, " (judging now)"),
      person.drift?.moved && html("span", { class: "flag", title: driftWords(person.drift) }, person.drift.slope > 0 ? "grows lenient" : "grows strict"),
    ),
    html("td", { class: "number" }, count(person.answers)),
    html("td", { class: "number" }, known(person.per_hour) ? count(person.per_hour) : "–"),
    html("td", { class: "number" }, lasting(person.median_seconds)),
    html("td", { class: "number" }, lasting(person.heard_seconds)),
    html("td", { class: "number" }, count(person.skips)),
    html("td", { class: "number", title: same ? `${several(same.n, "question")} asked twice` : "No question was asked twice yet" }, same ? consistency(same) : "–"),
    html("td", { class: "number severity" }, known(person.severity) ? severity(person.severity, widest) : "–"),
    html("td", { class: "number", title: "Share of relevance in the variance of grades" }, known(person.reliability) ? decimal(person.reliability, 2) : "–"),
    html("td", { class: "number soft" }, person.live ? "now" : since(person.seen_at)),
  );
}

const consistency = (same) => (known(same.share_of_scale) ? `${percent(1 - same.share_of_scale)}` : percent(same.exact));
const driftWords = (drift) =>
  `Grades moved by ${signed(drift.slope)} over the session (${signed(drift.low)} to ${signed(drift.high)}) beside what was expected`;

function severity(value, widest) {
  const x = linear([-widest, widest], [2, 58]);
  return html(
    "span",
    { class: "severity-mark" },
    svg(
      "svg",
      { viewBox: "0 0 60 14", "aria-hidden": "true" },
      svg("line", { x1: 30, x2: 30, y1: 1, y2: 13, class: "grid" }),
      svg("line", { x1: 30, x2: x(value), y1: 7, y2: 7, class: value < 0 ? "strict" : "lenient" }),
    ),
    signed(value, Math.abs(value) >= 1 ? 1 : 2),
  );
}
