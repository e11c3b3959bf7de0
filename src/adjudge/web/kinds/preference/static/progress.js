/* How far a preference campaign is, what it costs, and how people's parts ended. */

import { count, html, known, lasting, linear, nearly, percent, progress, roll, several, svg } from "../organiser/drawing.js";

/** An amount of money: "12.30 EUR"; small amounts keep more digits. */
function money(value, currency) {
  if (!known(value)) return "–";
  const digits = value !== 0 && Math.abs(value) < 1 ? 3 : Math.abs(value) >= 10_000 ? 0 : 2;
  return `${value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits })} ${currency}`;
}

/** One sentence about how far it is. */
export function headline(picture) {
  const { status, projection, cost } = picture;
  const there = `${count(status.answers)} of ${count(status.wanted_answers)} answers`;
  if (status.questions === 0) return "There are no questions yet";
  if (status.done) return `${there}; every question is answered${cost ? `; it cost ${money(cost.so_far, cost.currency)}` : ""}`;
  if (picture.campaign.state === "closed") return `${there}; closed before every question was answered`;
  const more = known(projection.participants_needed) && `about ${several(projection.participants_needed, "more person", "more people")} to the end`;
  const costs = cost && `about ${money(cost.to_goal, cost.currency)} still to come`;
  return [there, more, costs].filter(Boolean).join("; ");
}

/** A bar of all answers, and one per batch below it. */
export function drawProgress(place, picture) {
  const { status, batches } = picture;
  if (!status.questions) {
    place.replaceChildren(html("p", { class: "soft" }, "Progress shows once there are questions."));
    return;
  }
  const share = known(status.complete) ? status.complete : 0;
  place.replaceChildren(
    ...progress({
      share,
      words: `${nearly(share)} of the wanted answers are here`,
      done: status.done,
      facts: [`${count(status.questions_done)} of ${several(status.questions, "question")} complete`, aside(status)],
    }),
    batches.length > 1 ? batchBars(batches, status.batch) : "",
  );
}

function aside(status) {
  const parts = [`${several(status.traps, "attention check")} answered`];
  if (status.set_aside_answers) parts.push(`${several(status.set_aside_answers, "answer")} excluded`);
  return parts.join(", ");
}

function batchBars(batches, { current, of, complete }) {
  const words = current === null ? `all ${of} batches are complete` : `batch ${current + 1} of ${of} is being asked, ${complete} complete`;
  const each = batches.map(({ batch, wanted, answers, questions }) => {
    const share = wanted ? answers / wanted : 1;
    const about = `Batch ${batch + 1}: ${count(answers)} of ${count(wanted)} answers to ${several(questions, "question")}`;
    return svg(
      "svg",
      { class: `batch ${share >= 1 ? "done" : batch === current ? "current" : ""}`, viewBox: "0 0 40 14", preserveAspectRatio: "none" },
      svg("title", {}, about),
      svg("rect", { class: "track", width: 40, height: 14 }),
      share > 0 && svg("rect", { class: "filled", width: 40 * share, height: 14 }),
    );
  });
  return html("div", { class: "stack tight" }, html("div", { class: "batches", role: "img", "aria-label": words }, ...each), html("p", { class: "small soft" }, sentence(words)));
}

const sentence = (text) => `${text[0].toUpperCase()}${text.slice(1)}.`;

/** The four numbers that an organiser asks for. */
export function drawTiles(tiles, picture) {
  const { status, cost, people, projection, pace, campaign } = picture;
  roll(tiles.answers, status.answers);
  tiles.answersNote.textContent = `of ${count(status.wanted_answers)} wanted`;
  roll(tiles.live, people.filter((person) => person.live).length);
  tiles.liveNote.textContent = known(pace.per_hour) ? `${several(pace.per_hour, "answer")} that count in the last hour` : "nobody answered in the last day";
  if (cost === null) {
    tiles.cost.textContent = "–";
    tiles.costNote.textContent = "nothing is paid";
    roll(tiles.left, status.done ? 0 : projection.remaining);
    tiles.leftNote.textContent = status.done ? leftNote(status, projection, campaign) : unpaidNote(projection);
    return;
  }
  roll(tiles.cost, cost.so_far, (value) => money(value, cost.currency));
  tiles.costNote.textContent = `${money(cost.per_counted_answer, cost.currency)} per counted answer${cost.expected ? ", as expected from the settings" : ""}`;
  roll(tiles.left, status.done ? 0 : cost.to_goal, (value) => money(value, cost.currency));
  const range = !status.done && cost.high > cost.low ? `${amount(cost.low)} to ${amount(cost.high)}; ` : "";
  tiles.leftNote.textContent = `${range}${leftNote(status, projection, campaign)}`;
}

const amount = (value) => money(value, "").trim();

function unpaidNote(projection) {
  const needed = known(projection.participants_needed) ? `, of about ${several(projection.participants_needed, "more person", "more people")}` : "";
  return known(projection.remaining) ? `answers${needed}` : "once there are questions";
}

function leftNote(status, projection, campaign) {
  if (status.done) return "every question is answered";
  if (!known(projection.remaining)) return "once there are questions";
  const hours = known(projection.hours) && campaign.state === "open" ? `, ${lasting(projection.hours * 3600)} at this pace` : "";
  return `${several(projection.remaining, "answer")} to go${hours}`;
}

const DESK = { width: 640, height: 150, left: 34, right: 6, top: 10, bottom: 24 };
const PHONE = { width: 340, height: 150, left: 30, right: 4, top: 10, bottom: 24 };

/** A bar per hour of the last day: answers that count below, all others above. */
export function drawHours(place, { pace, made_at: now }) {
  if (pace.hours.length === 0) {
    place.replaceChildren(html("p", { class: "soft" }, "Nobody answered in the last 24 hours."));
    return;
  }
  const size = place.clientWidth < 460 ? PHONE : DESK;
  const most = Math.max(5, ...pace.hours.map(([counted, other]) => counted + other));
  const x = linear([0, pace.hours.length], [size.left, size.width - size.right]);
  const y = linear([0, most], [size.height - size.bottom, size.top]);
  const bars = pace.hours.flatMap(([counted, other], i) => {
    const [from, width] = [x(i) + 2, x(1) - x(0) - 4];
    const about = svg("title", {}, `${hourOf(now, pace.hours.length - 1 - i)}: ${counted} counted, ${other} attention checks, repeats or excluded`);
    return [
      counted > 0 && svg("rect", { class: "counted", x: from, width, y: y(counted), height: y(0) - y(counted), rx: 2 }, about),
      other > 0 && svg("rect", { class: "other", x: from, width, y: y(counted + other), height: y(counted) - y(counted + other), rx: 2 }, about.cloneNode(true)),
    ];
  });
  const total = pace.hours.reduce((sum, [counted]) => sum + counted, 0);
  const drawing = svg(
    "svg",
    { viewBox: `0 0 ${size.width} ${size.height}`, role: "img", class: "chart hours", "aria-label": `${several(total, "answer")} that count in the last 24 hours, ${count(pace.per_hour)} in the last one.` },
    svg("g", { class: "axes" }, ...[0, most].map((value) => svg("text", { x: size.left - 8, y: y(value) + 4, "text-anchor": "end" }, count(value))),
      svg("line", { class: "grid", x1: size.left, x2: size.width - size.right, y1: y(0), y2: y(0) }),
      ...(size === PHONE ? [18, 12, 6, 0] : [23, 18, 12, 6, 0]).map((ago) => svg("text", { x: x(pace.hours.length - ago - 0.5), y: size.height - 6, "text-anchor": ago === 0 ? "end" : "middle" }, ago === 0 ? "now" : `−${ago} h`))),
    ...bars,
  );
  place.replaceChildren(
    drawing,
    html("ul", { class: "legend" }, legend("counted", "that count"), legend("other", "attention checks, repeats, excluded")),
  );
}

const legend = (kind, words) => html("li", {}, svg("svg", { class: "chip hours", viewBox: "0 0 14 14", "aria-hidden": "true" }, svg("rect", { class: kind, width: 14, height: 14, rx: 3 })), words);
const hourOf = (now, ago) => (ago === 0 ? "the last hour" : `${ago} to ${ago + 1} hours ago`);

const OUTCOMES = [
  ["done", "Finished", "good"],
  ["working", "Still at it", "info"],
  ["screened_out", "Quiz not passed", "quiet"],
  ["failed", "Stopped later", "warn"],
];

/** How many people ended how, as one bar and in numbers. */
export function drawOutcomes(place, { outcomes }) {
  const total = OUTCOMES.reduce((sum, [key]) => sum + outcomes[key], 0);
  if (total === 0) {
    place.replaceChildren(html("p", { class: "soft" }, "Nobody has answered anything yet."));
    return;
  }
  let from = 0;
  const parts = OUTCOMES.map(([key, , kind]) => {
    const width = (600 * outcomes[key]) / total;
    from += width;
    return width > 0 && svg("rect", { class: kind, x: from - width, width, height: 28 });
  });
  const words = OUTCOMES.map(([key, title]) => `${title}: ${outcomes[key]}`).join(", ");
  place.replaceChildren(
    svg("svg", { class: "outcome-bar", viewBox: "0 0 600 28", preserveAspectRatio: "none", role: "img", "aria-label": words }, ...parts),
    html(
      "dl",
      { class: "outcomes" },
      ...OUTCOMES.map(([key, title, kind]) =>
        html("div", {}, html("dt", {}, svg("svg", { class: "chip outcome-bar", viewBox: "0 0 14 14", "aria-hidden": "true" }, svg("rect", { class: kind, width: 14, height: 14, rx: 3 })), title), html("dd", {}, count(outcomes[key]), html("span", { class: "soft small" }, ` ${percent(outcomes[key] / total)}`))),
      ),
    ),
  );
}
