/* Agreement between assessors, each of them, and the clips they stumbled over. */

import { count, decimal, html, known, lasting, linear, percent, several, signed, since, svg } from "./drawing.js";
import { drawClip } from "./notation_clips.js";
import { personHead } from "./person.js";

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
  if (people.length === 0) {
    const link = html("a", { href: place.dataset.people }, "Invite somebody");
    place.replaceChildren(html("p", { class: "soft" }, "Nobody judges yet. ", link, "."));
    return;
  }
  const heads = ["Assessor", "Answers", "An hour", "Median time", "Heard", "Skips", "Says the same again", "Severity", "Seen"];
  place.replaceChildren(
    html(
      "div",
      { class: "table-scroll", tabindex: "0", role: "region", "aria-label": "Table of assessors" },
      html(
        "table",
        { class: "table assessors" },
        html("thead", {}, html("tr", {}, ...heads.map((text, i) => html("th", { scope: "col", class: i ? "number" : null }, text)))),
        html("tbody", {}, ...people.map((person) => assessorRow(person, Math.max(...people.map((each) => Math.abs(each.severity ?? 0)), 1e-9)))),
      ),
    ),
  );
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

const REASONS = { broken: "does not play", cannot_tell: "cannot tell", known: "knew it", other: "another reason" };

/** Clips that people skipped or said something about: listen, keep back, put back. */
export function drawProblems(place, picture, { hold, clips, what = "clip" }) {
  const { problems } = picture;
  if (problems.length === 0) {
    place.replaceChildren(html("p", { class: "soft" }, `No ${what} was skipped or commented on. Good.`));
    return;
  }
  const playing = [...place.querySelectorAll("audio")].some((audio) => !audio.paused);
  const same = place.dataset.of === JSON.stringify(problems);
  if (playing || same) return; // do not cut off what the organiser listens to
  place.dataset.of = JSON.stringify(problems);
  const items = problems.map((problem) => problemItem(problem, hold, clips));
  place.replaceChildren(html("ul", { class: "problems" }, ...items));
}

function problemItem(problem, hold, clips) {
  const reasons = Object.entries(problem.reasons ?? {}).map(
    ([reason, n]) => `${REASONS[reason] ?? reason}${n > 1 ? ` (${n})` : ""}`,
  );
  const isQuery = problem.document === problem.query; // all its candidates are asked about
  const name = isQuery ? problem.query : `${problem.document} for ${problem.query}`;
  const tools = html("div", { class: "problem-tools" });
  const listen = html("button", { type: "button", class: "button small", "aria-label": `Listen to ${name}` }, "Listen");
  listen.addEventListener("click", async () => {
    const found = await clips(problem);
    if (found === null) return;
    listen.replaceWith(...players(found));
    tools.querySelector("audio")?.focus();
  });
  const word = problem.held ? "Put back" : "Keep back";
  tools.append(
    listen,
    html("button", { type: "button", class: "button small", "aria-label": `${word} ${name}`, onclick: () => hold(problem) }, word),
  );
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

/** A query with its candidate, with both lists, or with all its candidates. */
function players({ query, candidate, candidates = [], a = [], b = [] }) {
  const lists = [["a", a], ["b", b]].flatMap(([side, list]) => list.map((one, i) => shown(`List ${side}, result ${i + 1}`, one)));
  const ranked = candidates.map((one) => shown(one.document, one));
  return [shown("Query", query), ...(candidate ? [shown("Candidate", candidate)] : [...lists, ...ranked])];
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
