/* How sure the order of every two systems is: a heat map above its diagonal, and the same as a list to read. */

import { decimal, html, percent, several, signed, svg } from "../organiser/drawing.js";
import { asTable, table } from "../organiser/tables.js";

const WORDS = { better: "told apart", tie: "a tie", open: "open" };

/** Draw the matrix of pairs in the order of the ranking, with its legend, and the list. */
export function drawMatrix(place, picture) {
  const names = picture.ranking.map((system) => system.system);
  if (names.length < 2) {
    place.replaceChildren(html("p", { class: "soft" }, "Pairs are compared as soon as there are two systems."));
    return;
  }
  const counts = { better: 0, tie: 0, open: 0 };
  for (const pair of picture.pairs) counts[pair.verdict] += 1;
  const told = html("p", { class: "told" }, said(counts, picture.pairs.length));
  const map = heatMap(names, picture.pairs, (text) => {
    told.textContent = text ?? said(counts, picture.pairs.length);
  });
  place.replaceChildren(
    told,
    html("div", { class: "matrix-scroll", tabindex: "0", role: "region", "aria-label": "Heat map of pairs" }, map),
    legend(),
    asList(picture.pairs),
  );
}

const said = (counts, n) =>
  `Of ${several(n, "pair")}: ${counts.better} told apart, ${several(counts.tie, "tie")}, ${counts.open} open.`;

/** Nine steps from a coin toss to certainty. */
const step = (confidence) => Math.max(0, Math.min(8, Math.floor((Math.max(0.5, confidence) - 0.5) * 18)));

function heatMap(names, pairs, tell) {
  const left = Math.min(150, Math.max(...names.map((name) => name.length)) * 7.4 + 34);
  const side = Math.max(28, Math.min(48, Math.floor((640 - left) / names.length)));
  const top = 26;
  const width = left + side * names.length + 4;
  const place = new Map(names.map((name, i) => [name, i]));
  const drawing = svg("svg", {
    viewBox: `0 0 ${width} ${top + side * names.length + 4}`,
    width,
    role: "img",
    "aria-label": "Confidence in the order of every two systems; the list below has the numbers.",
    class: "matrix",
  });
  names.forEach((name, i) => {
    drawing.append(
      svg("text", { x: left - 8, y: top + side * i + side / 2 + 4, "text-anchor": "end", class: "name" }, `${short(name, 16)}  ${i + 1}`),
      svg("text", { x: left + side * i + side / 2, y: top - 9, "text-anchor": "middle", class: "name" }, String(i + 1)),
      svg("rect", { x: left + side * i + 1, y: top + side * i + 1, width: side - 2, height: side - 2, rx: 5, class: "self" }),
    );
  });
  for (const pair of pairs) {
    const [i, j] = [place.get(pair.system), place.get(pair.other)];
    if (i === undefined || j === undefined) continue;
    drawing.append(cell(pair, left + side * Math.max(i, j), top + side * Math.min(i, j), side, tell));
  }
  drawing.addEventListener("pointerleave", () => tell(null));
  return drawing;
}

const short = (name, most) => (name.length > most ? `${name.slice(0, most - 1)}…` : name);

function cell(pair, x, y, side, tell) {
  const shown = pair.confidence >= 0.995 ? "99" : String(Math.floor(pair.confidence * 100));
  const text = pair.verdict === "tie" ? "=" : shown;
  const group = svg(
    "g",
    { class: `cell v-${pair.verdict} s${step(pair.confidence)}` },
    svg("rect", { x: x + 1, y: y + 1, width: side - 2, height: side - 2, rx: 5 }),
    svg("text", { x: x + side / 2, y: y + side / 2 + 4, "text-anchor": "middle" }, text),
  );
  group.addEventListener("pointerenter", () => tell(inWords(pair)));
  return group;
}

const inWords = (pair) =>
  `${pair.system} over ${pair.other}: ${signed(pair.difference, 3)} (${signed(pair.low, 3)} to ${signed(pair.high, 3)}), ` +
  `${percent(pair.confidence, 1)} sure: ${WORDS[pair.verdict]}.`;

function legend() {
  const chips = [
    ["v-better s8", "told apart"],
    ["v-open s6", "leaning"],
    ["v-open s1", "open"],
    ["v-tie", "tie"],
  ];
  return html(
    "ul",
    { class: "legend" },
    ...chips.map(([kind, text]) => html("li", {}, svg("svg", { viewBox: "0 0 14 14", class: "chip", "aria-hidden": "true" }, svg("g", { class: `cell ${kind}` }, svg("rect", { width: 14, height: 14, rx: 4 }))), text)),
  );
}

function asList(pairs) {
  const sorted = [...pairs].sort((a, b) => a.confidence - b.confidence);
  const row = (pair) =>
    html(
      "tr",
      {},
      html("th", { scope: "row" }, pair.system),
      html("td", {}, pair.other),
      html("td", { class: "number" }, signed(pair.difference, 3)),
      html("td", { class: "number" }, `${decimal(pair.low)} – ${decimal(pair.high)}`),
      html("td", { class: "number" }, percent(pair.confidence, 1)),
      html("td", {}, WORDS[pair.verdict]),
    );
  const heads = ["System", "over", "Difference", "95 % interval", "Sure", "Verdict"];
  const isNumber = (column) => column > 1 && column < 5;
  return asTable("As a list, least sure first", table("Pairs of systems, least sure first", heads, sorted.map(row), { isNumber }));
}
