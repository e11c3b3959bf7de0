/* Who ranks: whether they are there, what they have in work, and how far they agree with the others. */

import { count, decimal, html, known, lasting, linear, percent, several, since, svg } from "../organiser/drawing.js";
import { drawPeopleTable, personHead } from "../organiser/tables.js";

const STATES = {
  live: ["here now", "good"],
  aside: ["excluded", "bad"],
  blocked: ["blocked", "warn"],
};

/** Those who are there first. */
export function drawExperts(place, { experts }) {
  drawPeopleTable(place, experts, {
    label: "Table of experts",
    heads: ["Expert", "Rankings", "Ranked", "Each takes", "Agreement with the others", "At work on", "Seen"],
    row: expertRow,
    nobody: "Nobody has begun a ranking, and nobody is here now.",
    about: "Agreement is Kendall’s τ with the median ranks of the others; what lies in the shaded zone, chance would give as well.",
    isNumber: (column) => column > 0 && column < 4,
  });
}

function expertRow(person) {
  const [words, kind] = STATES[person.state] ?? ["", ""];
  return html(
    "tr",
    { class: `${person.live ? "is-live" : ""} ${person.state === "aside" ? "is-aside" : ""}` },
    personHead(person, " ", words && html("span", { class: `badge ${kind}` }, words), person.like_chance && html("span", { class: "badge bad" }, "like chance")),
    html("td", { class: "number" }, count(person.rankings), person.skips > 0 && html("span", { class: "soft" }, ` (${person.skips} skipped)`)),
    html("td", { class: "number" }, percent(person.ranked_share)),
    html("td", { class: "number" }, lasting(person.median_seconds)),
    html("td", {}, known(person.tau) ? html("span", { class: "tau-mark", title: `over ${several(person.shared, "query", "queries")}` }, ruler(person), decimal(person.tau, 2)) : "–"),
    html("td", {}, person.begun ? html("span", { title: `${person.begun.placed} of ${count(person.begun.of)} documents have a place` }, `${person.begun.query} ${person.begun.placed}/${count(person.begun.of)}`) : html("span", { class: "soft" }, "–")),
    html("td", {}, since(person.seen_at)),
  );
}

/** From −1 to 1, with the zone that chance reaches. */
function ruler({ tau, chance, like_chance: strange }) {
  const x = linear([-1, 1], [4, 116]);
  return svg(
    "svg",
    { viewBox: "0 0 120 18", class: "ruler tau", "aria-hidden": "true" },
    svg("rect", { class: "chance", x: x(Math.max(-1, -chance)), width: x(Math.min(1, chance)) - x(Math.max(-1, -chance)), y: 3, height: 12, rx: 3 }),
    svg("line", { x1: 4, x2: 116, y1: 9, y2: 9, class: "base" }),
    svg("line", { x1: x(0), x2: x(0), y1: 4, y2: 14, class: "grid" }),
    svg("circle", { cx: x(tau), cy: 9, r: 4.5, class: strange ? "spot bad" : "spot" }),
  );
}
