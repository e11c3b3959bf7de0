/* The ranking of systems: a table whose last column is a chart, so that everybody gets the numbers. Rows glide. */

import { calm, decimal, html, known, linear, percent, several, svg, ticks } from "../organiser/drawing.js";

const PLOT = { width: 360, height: 30, pad: 8 };

/** Draw the ranking; rows keep their elements, so that a system that overtakes another is seen to do so. */
export function drawRanking(place, picture) {
  const { ranking } = picture;
  if (ranking.length === 0) {
    place.replaceChildren(html("p", { class: "soft" }, "There is a ranking as soon as the campaign is open."));
    return;
  }
  const teams = ranking.some((system) => system.team);
  const table = place.querySelector("table") ?? emptyTable(place, teams);
  const body = table.tBodies[0];
  const before = new Map([...body.rows].map((row) => [row.dataset.system, row.getBoundingClientRect().top]));
  const scale = extent(ranking);
  table.querySelector(".top-place").textContent = `P(top ${picture.status.top})`;
  place.querySelector(".new-queries").textContent = ofNewQueries(picture);
  const old = new Map([...body.rows].map((row) => [row.dataset.system, row]));
  body.replaceChildren(...ranking.map((system) => rowOf(old.get(system.system), system, { n: ranking.length, scale, teams })));
  drawAxis(table, scale);
  glide(body, before);
}

/** What all this says of queries like these. */
function ofNewQueries({ ranking, status }) {
  const [best] = ranking;
  if (!known(status.mean_confidence_new) || !known(best.p_best_new)) return "";
  return `On new queries like these, ${best.system} is the best with probability ${percent(best.p_best_new)}; mean confidence in the order of two systems is ${percent(status.mean_confidence_new, 1)}, here ${percent(status.mean_confidence, 1)}.`;
}

function extent(ranking) {
  const low = Math.min(...ranking.map((system) => system.low));
  const high = Math.max(...ranking.map((system) => system.high));
  const room = Math.max((high - low) * 0.04, 1e-6);
  const domain = [Math.max(Math.min(0, low), low - room), high + room];
  return { domain, x: linear(domain, [PLOT.pad, PLOT.width - PLOT.pad]) };
}

function emptyTable(place, teams) {
  const table = html(
    "table",
    { class: "table ranking" },
    html("caption", { class: "visually-hidden" }, "Systems, best first, with the 95 % interval of their effectiveness"),
    html(
      "thead",
      {},
      html(
        "tr",
        {},
        html("th", { scope: "col", class: "number" }, html("span", { "aria-hidden": "true" }, "#"), html("span", { class: "visually-hidden" }, "Rank")),
        html("th", { scope: "col" }, "System"),
        teams && html("th", { scope: "col", class: "wide-only" }, "Team"),
        html("th", { scope: "col", class: "number" }, "Score"),
        html("th", { scope: "col", class: "number wide-only" }, "95 % interval"),
        html("th", { scope: "col", class: "number wide-only" }, "Possible ranks"),
        html("th", { scope: "col", class: "number wide-only", title: "A tier begins where a system is shown to be worse than the first of the tier above" }, "Tier"),
        html("th", { scope: "col", class: "number" }, "P(best)"),
        html("th", { scope: "col", class: "number wide-only top-place" }),
        html("th", { scope: "col", class: "plot-head" }, html("span", { class: "visually-hidden" }, "Chart"), html("span", { class: "axis-place" })),
      ),
    ),
    html("tbody", {}),
  );
  const told = html("p", { class: "told soft", "aria-live": "polite" }, "Point at a system, or choose it, to see which ones it is not told apart from yet.");
  place.replaceChildren(table, told, html("p", { class: "soft small new-queries" }));
  table.addEventListener("pointerover", (event) => point(place, event.target.closest("tbody tr")));
  table.addEventListener("focusin", (event) => point(place, event.target.closest("tbody tr")));
  table.addEventListener("pointerleave", () => point(place, null));
  table.addEventListener("focusout", () => point(place, null));
  return table;
}

function rowOf(row, system, { n, scale, teams }) {
  const element = row ?? html("tr", { "data-system": system.system });
  const told = n - 1 - system.tied.length;
  element.dataset.tied = JSON.stringify(system.tied);
  const name = element.querySelector("button") ?? html("button", { type: "button", class: "system" }, system.system);
  const cells = [
    html("td", { class: "number rank" }, String(system.rank)),
    html("th", { scope: "row" }, name, system.team && html("span", { class: "narrow-only soft small" }, system.team)),
    teams && html("td", { class: "wide-only soft" }, system.team ?? ""),
    html("td", { class: "number strong" }, decimal(system.score)),
    html("td", { class: "number wide-only soft" }, `${decimal(system.low)} – ${decimal(system.high)}`),
    html("td", { class: "number wide-only soft" }, system.rank_low === system.rank_high ? String(system.rank_low) : `${system.rank_low} – ${system.rank_high}`),
    html("td", { class: "number wide-only soft" }, String(system.tier)),
    html("td", { class: "number" }, percent(system.p_best)),
    html("td", { class: "number wide-only soft" }, percent(system.p_top)),
    html("td", { class: "plot" }, whisker(system, scale)),
  ];
  name.title = `Told apart from ${told} of ${n - 1}`;
  element.replaceChildren(...cells.filter((cell) => cell));
  return element;
}

function whisker(system, { x, domain }) {
  const middle = PLOT.height / 2;
  return svg(
    "svg",
    { viewBox: `0 0 ${PLOT.width} ${PLOT.height}`, class: "whisker", "aria-hidden": "true", preserveAspectRatio: "none" },
    ...ticks(...domain, 4).map((at) => svg("line", { x1: x(at), x2: x(at), y1: 0, y2: PLOT.height, class: "grid" })),
    svg("line", { x1: x(system.low), x2: x(system.high), y1: middle, y2: middle, class: "reach" }),
    svg("line", { x1: x(system.score), x2: x(system.score), y1: middle, y2: middle, class: "dot" }),
  );
}

function drawAxis(table, { x, domain }) {
  const axis = svg("svg", { viewBox: `0 0 ${PLOT.width} 16`, "aria-hidden": "true", class: "whisker-axis" });
  for (const at of ticks(...domain, 4)) {
    axis.append(svg("text", { x: x(at), y: 12, "text-anchor": "middle" }, decimal(at, 2)));
  }
  table.querySelector(".axis-place").replaceChildren(axis);
}

/** First, last, invert, play: rows start where they were. */
function glide(body, before) {
  if (calm.matches) return;
  for (const row of body.rows) {
    const from = before.get(row.dataset.system);
    const shift = from === undefined ? 0 : from - row.getBoundingClientRect().top;
    if (Math.abs(shift) < 2) continue;
    const kind = shift > 0 ? "climbing" : "falling";
    row.classList.add(kind);
    const glided = row.animate([{ transform: `translateY(${shift}px)` }, { transform: "none" }], {
      duration: 650,
      easing: "cubic-bezier(.2,.8,.2,1)",
    });
    glided.onfinish = () => setTimeout(() => row.classList.remove(kind), 1200);
  }
}

/** Show which systems one is not told apart from. */
function point(place, row) {
  const rows = place.querySelectorAll("tbody tr");
  const told = place.querySelector(".told");
  if (row === null || row === undefined) {
    for (const each of rows) each.classList.remove("chosen", "near", "far");
    return;
  }
  const tied = new Set(JSON.parse(row.dataset.tied));
  for (const each of rows) {
    const { system } = each.dataset;
    each.classList.toggle("chosen", each === row);
    each.classList.toggle("near", tied.has(system));
    each.classList.toggle("far", each !== row && !tied.has(system));
  }
  const others = rows.length - 1;
  told.textContent =
    tied.size === 0
      ? `${row.dataset.system} is told apart from all ${several(others, "other system")}.`
      : `${row.dataset.system} is told apart from ${others - tied.size} of ${several(others, "other system")}; not yet from ${[...tied].join(", ")}.`;
}
