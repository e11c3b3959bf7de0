/* Who ranks: whether they are there, what they have in work, and how far they agree with the others. */

import { count, decimal, html, known, lasting, linear, percent, several, since, svg } from "./drawing.js";
import { personHead } from "./person.js";

const STATES = {
  live: ["here now", "good"],
  aside: ["set aside", "bad"],
  blocked: ["blocked", "warn"],
};
const SHOWN = 40;
const HEADS = [["Expert"], ["Rankings"], ["Ranked"], ["Each takes"], ["Agreement with the others"], ["At work on"], ["Seen"]];

/** A row an expert; those who are there first. */
export function drawExperts(place, { experts }) {
  if (experts.length === 0) {
    const link = html("a", { href: place.dataset.people }, "Invite somebody");
    place.replaceChildren(html("p", { class: "soft" }, "Nobody has begun a ranking, and nobody is here now. ", link, "."));
    return;
  }
  const rest = experts.length - SHOWN;
  place.replaceChildren(
    html(
      "div",
      { class: "table-scroll", tabindex: "0", role: "region", "aria-label": "Table of experts" },
      html(
        "table",
        { class: "table assessors" },
        html("thead", {}, html("tr", {}, ...HEADS.map(([text], i) => html("th", { scope: "col", class: i > 0 && i < 4 ? "number" : null }, text)))),
        html("tbody", {}, ...experts.slice(0, SHOWN).map(expertRow)),
      ),
    ),
    html("p", { class: "small soft" }, "Agreement is Kendall’s τ with the median ranks of the others; what lies in the shaded zone, chance would give as well."),
    rest > 0 ? html("p", { class: "small soft" }, "And ", html("a", { href: place.dataset.people }, several(rest, "more person", "more people")), ".") : "",
  );
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
