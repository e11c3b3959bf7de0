/* Queries in a table, and the list of one of them: groups as bands, the spread of ranks, pairs that do not fit. */

import { count, decimal, html, linear, several, svg, ticks } from "../organiser/drawing.js";
import { table } from "../organiser/tables.js";

const HEADS = [
  "Query", ["Experts", "sent of wanted; those at work beside"], "Documents", "Groups",
  ["ADR-1", "consistency with one-tailed tests"], ["ADR-2", "consistency with two-tailed tests"],
  ["Intra", "pairs in one group that experts tell apart"], ["Inter", "pairs in different groups that experts do not tell apart"],
  ["Misordered", "pairs that stand in the wrong order"],
  ["Triples", "triples for which significance is not transitive: no list is right about them"],
];

/** A row per query; the one whose list is drawn is marked. */
export function drawQueries(place, queries, numbers, { chosen, choose }) {
  if (queries.length === 0) {
    place.replaceChildren(html("p", { class: "soft" }, "There are no candidates yet."));
    return;
  }
  const rows = queries.map((one) => queryRow(one, numbers.get(one.query), one.query === chosen, choose));
  place.replaceChildren(table("Table of queries", HEADS, rows, { kind: "queries", tall: true }));
}

function queryRow(one, list, isChosen, choose) {
  const triples = list && list.triples.alike + list.triples.ordered + list.triples.circular;
  const cell = (text) => html("td", { class: "number" }, text);
  return html(
    "tr",
    { class: isChosen ? "chosen" : null },
    html(
      "th",
      { scope: "row" },
      html("button", { type: "button", class: "pick", "aria-pressed": String(isChosen), onclick: () => choose(one.query) }, one.query),
      one.held && html("span", { class: "badge warn" }, "kept back"),
      one.nobody.length > 0 && html("span", { class: "badge", title: `Ranked by nobody: ${one.nobody.join(", ")}` }, `${one.nobody.length} by nobody`),
    ),
    html("td", { class: "number" }, meter(one), `${count(one.answered)} of ${count(one.wanted)}`, html("span", { class: "soft" }, one.in_work > 0 ? ` +${one.in_work}` : "")),
    cell(count(one.documents)),
    cell(list ? count(list.groups) : "–"),
    cell(list ? decimal(list.adr_1) : "–"),
    cell(list ? decimal(list.adr_2) : "–"),
    cell(list ? count(list.counts.intra) : "–"),
    cell(list ? count(list.counts.inter) : "–"),
    cell(list ? count(list.counts.misordered) : "–"),
    html("td", { class: "number", title: list ? `${list.triples.alike} alike, ${list.triples.ordered} ordered, ${list.triples.circular} circular, of ${count(list.triples.n)}` : null }, list ? count(triples) : "–"),
  );
}

function meter({ answered, wanted, in_work: work }) {
  const width = (n) => (wanted > 0 ? Math.min(60, (60 * n) / wanted) : 0);
  return svg(
    "svg",
    { class: `expert-meter ${answered >= wanted ? "done" : ""}`, viewBox: "0 0 60 10", "aria-hidden": "true" },
    svg("rect", { class: "track", width: 60, height: 10, rx: 3 }),
    work > 0 && svg("rect", { class: "in-work", width: width(answered + work), height: 10, rx: 3 }),
    answered > 0 && svg("rect", { class: "filled", width: width(answered), height: 10, rx: 3 }),
  );
}

const ROW = 34; // of the table, in pixels: arcs must meet the middle of their rows
const PLOT = { width: 300, pad: 10 };
const ARCS = 90;
const KINDS = { intra: "in one group, but experts tell them apart", inter: "in different groups, but experts do not tell them apart", misordered: "in the wrong order" };

/** The list of a query. */
export function drawList(place, list) {
  const { documents } = list;
  const most = Math.max(...documents.map((one) => one.upper), 2);
  const x = linear([1, most], [PLOT.pad, PLOT.width - PLOT.pad]);
  const wrong = wrongPairs(list);
  const sizes = documents.reduce((sum, one) => sum.set(one.group, (sum.get(one.group) ?? 0) + 1), new Map());
  const rows = documents.map((one, i) => documentRow(one, i, { x, most, wrong, sizes, first: i === 0 || documents[i - 1].group !== one.group }));
  rows[0].append(html("td", { class: "arcs wide-only", rowspan: documents.length, "aria-hidden": "true" }, arcs(list, documents.length)));
  const told = html("p", { class: "told soft", "aria-live": "polite" }, hint(list));
  const groups = html(
    "table",
    { class: "table partial-list" },
    html("caption", { class: "visually-hidden" }, `The list of ${list.query}: groups of documents, the most similar first`),
    html(
      "thead",
      {},
      html(
        "tr",
        {},
        html("th", { scope: "col" }, "Group"),
        html("th", { scope: "col" }, "Document"),
        html("th", { scope: "col", class: "number wide-only" }, "Median"),
        html("th", { scope: "col", class: "plot-head" }, html("span", { class: "visually-hidden" }, "Quartiles of ranks"), axis(x, most)),
        html("th", { scope: "col", class: "number wide-only" }, "Experts"),
        html("th", { scope: "col", class: "number", title: "pairs that do not fit" }, "Misfits"),
        html("th", { scope: "col", class: "wide-only" }, html("span", { class: "visually-hidden" }, "Pairs that do not fit")),
      ),
    ),
    html("tbody", {}, ...rows),
  );
  const point = (event) => pointAt(place, event.target.closest?.("tr[data-place-in-list]"), list, wrong);
  groups.addEventListener("pointerover", point);
  groups.addEventListener("focusin", point);
  groups.addEventListener("pointerleave", () => pointAt(place, null, list, wrong));
  place.replaceChildren(
    html("h3", {}, list.query, html("span", { class: "soft small" }, `  ${several(documents.length, "document")} in ${several(list.groups, "group")}; ADR-1 ${decimal(list.adr_1)}, ADR-2 ${decimal(list.adr_2)}`)),
    html("div", { class: "table-scroll", tabindex: "0", role: "region", "aria-label": `The list of ${list.query}` }, groups),
    legend(list),
    told,
    list.left_out.length > 0 ? html("p", { class: "small soft" }, `Ranked by nobody, and in no list: ${list.left_out.join(", ")}.`) : "",
  );
}

function hint({ counts }) {
  const n = counts.intra + counts.inter + counts.misordered;
  return n === 0 ? "Every pair fits: experts tell apart what stands in different groups, and nothing else." : "Point at a document, or choose it, to see with which ones it does not fit.";
}

/** By place, the others that do not fit: [place, kind]. */
function wrongPairs({ documents, marks }) {
  const found = documents.map(() => []);
  for (const kind of Object.keys(KINDS)) {
    for (const [one, other] of marks[kind]) {
      found[one].push([other, kind]);
      found[other].push([one, kind]);
    }
  }
  return found;
}

function documentRow(one, place, { x, most, wrong, sizes, first }) {
  const kinds = Object.keys(KINDS).map((kind) => [kind, wrong[place].filter(([, other]) => other === kind).length]).filter(([, n]) => n > 0);
  return html(
    "tr",
    { "data-place-in-list": String(place), class: `${one.group % 2 === 1 ? "band" : ""} ${first ? "begins" : ""}` },
    first && html("td", { class: "group-number", rowspan: sizes.get(one.group) }, String(one.group)),
    html("th", { scope: "row" }, html("button", { type: "button", class: "pick", title: one.document }, one.document)),
    html("td", { class: "number strong wide-only" }, decimal(one.middle, 1)),
    html("td", { class: "plot", title: `median ${decimal(one.middle, 1)}, half of the ranks from ${decimal(one.lower, 1)} to ${decimal(one.upper, 1)}` }, whisker(one, x, most)),
    html("td", { class: "number soft wide-only" }, count(one.experts)),
    html("td", { class: "number misfits" }, ...(kinds.length ? kinds.map(([kind, n]) => html("span", { class: `misfit ${kind}`, title: KINDS[kind] }, String(n))) : [html("span", { class: "soft" }, "–")])),
  );
}

function whisker(one, x, most) {
  return svg(
    "svg",
    { viewBox: `0 0 ${PLOT.width} 26`, class: "whisker", "aria-hidden": "true", preserveAspectRatio: "none" },
    ...ticks(1, most, 6).map((tick) => svg("line", { x1: x(tick), x2: x(tick), y1: 0, y2: 26, class: "grid" })),
    svg("line", { x1: x(one.lower), x2: x(one.upper), y1: 13, y2: 13, class: "reach" }),
    svg("line", { x1: x(one.middle), x2: x(one.middle), y1: 13, y2: 13, class: "dot" }),
  );
}

function axis(x, most) {
  return html(
    "span",
    { class: "axis-place", "aria-hidden": "true" },
    svg("svg", { viewBox: `0 0 ${PLOT.width} 16`, class: "whisker-axis" }, ...ticks(1, most, 6).map((tick) => svg("text", { x: x(tick), y: 12, "text-anchor": "middle" }, String(Math.round(tick * 10) / 10)))),
  );
}

/** An arc a pair that does not fit; the further apart, the wider. */
function arcs({ marks }, n) {
  const middle = (place) => (place + 0.5) * ROW;
  const one = (kind, [a, b]) => {
    const wide = Math.min(ARCS - 8, 8 + 10 * Math.sqrt(b - a));
    return svg("path", { class: `arc ${kind}`, "data-ends": `${a} ${b}`, d: `M 2 ${middle(a)} C ${wide * 1.3} ${middle(a)} ${wide * 1.3} ${middle(b)} 2 ${middle(b)}` });
  };
  return svg(
    "svg",
    { viewBox: `0 0 ${ARCS} ${n * ROW}`, width: ARCS, height: n * ROW },
    ...["inter", "intra", "misordered"].flatMap((kind) => marks[kind].map((pair) => one(kind, pair))),
  );
}

function legend({ counts }) {
  const each = (kind, words) =>
    counts[kind] > 0 &&
    html("li", {}, svg("svg", { class: "chip", viewBox: "0 0 14 14", "aria-hidden": "true" }, svg("path", { class: `arc ${kind}`, d: "M 1 2 C 14 2 14 12 1 12" })), `${count(counts[kind])} ${words}`);
  return html("ul", { class: "legend" }, each("intra", "told apart inside a group"), each("inter", "not told apart across groups"), each("misordered", "in the wrong order"));
}

function pointAt(place, row, { documents }, wrong) {
  const number = row ? Number(row.dataset.placeInList) : -1;
  const others = new Map(row ? wrong[number].map(([other, kind]) => [other, kind]) : []);
  for (const each of place.querySelectorAll("tr[data-place-in-list]")) {
    const its = Number(each.dataset.placeInList);
    each.classList.toggle("chosen", its === number);
    each.classList.toggle("misfitting", others.has(its));
  }
  for (const arc of place.querySelectorAll(".arcs .arc")) {
    arc.classList.toggle("far", row !== null && row !== undefined && !arc.dataset.ends.split(" ").includes(String(number)));
  }
  if (!row) return;
  const by = Object.keys(KINDS).map((kind) => [kind, wrong[number].filter(([, other]) => other === kind).map(([other]) => documents[other].document)]);
  const said = by.filter(([, names]) => names.length > 0).map(([kind, names]) => `${KINDS[kind]}: ${some(names)}`);
  const name = documents[number].document;
  place.querySelector(".told").textContent = said.length ? `${name} and, ${said.join("; ")}.` : `${name} fits: experts bear out its place beside every other document.`;
}

const some = (names) => (names.length > 8 ? `${names.slice(0, 8).join(", ")} and ${names.length - 8} more` : names.join(", "));
