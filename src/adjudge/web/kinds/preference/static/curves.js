/* Satisfaction by effectiveness and agreement by difference: shares of bins with their intervals, and the curves. */

import { count, decimal, html, known, linear, percent, several, svg } from "../organiser/drawing.js";
import { asTable, table } from "../organiser/tables.js";

const SIZE = { width: 520, height: 290, left: 46, right: 14, top: 14, bottom: 42 };
const PHONE = { width: 340, height: 250, left: 42, right: 10, top: 14, bottom: 42 };
const short = (value) => (value < 0.005 ? "0" : decimal(value, 2).replace(/^0\./, "."));

/** What the curve says in a sentence, with its interval; or why it says nothing yet. */
export function noticed(curves) {
  const { agreement, measure, scale } = curves;
  if (agreement.curve.length === 0) return agreement.why ? `${agreement.why[0].toUpperCase()}${agreement.why.slice(1)}.` : "";
  const of = `${measure} on ${scale}`;
  if (!known(agreement.noticeable)) return `So far no difference in ${of} is noticed by more than half of the people.`;
  return `More than half notice differences in ${of} from ${short(agreement.noticeable)} on${interval(agreement)}.`;
}

/** The interval of that difference; nothing where none is known or it has no width. */
function interval({ noticeable, noticeable_low: low, noticeable_high: high }) {
  if (!known(low) && !known(high)) return "";
  if ([low, high].every((end) => known(end) && Math.abs(end - noticeable) < 1e-6)) return "";
  return ` (95 % interval ${known(low) ? short(low) : "0"} to ${known(high) ? short(high) : "beyond 1"})`;
}

/** One block a measure on a scale: the sentence, then both charts. */
export function drawCurves(place, { curves, status }) {
  if (curves.length === 0) {
    const why = status.answers > 0 ? "The questions have no grades, so there is nothing to hold answers against." : "Curves begin with the first answers.";
    place.replaceChildren(html("p", { class: "soft" }, why));
    return;
  }
  place.replaceChildren(...curves.map((one) => block(one, place.clientWidth < 700 ? PHONE : SIZE)));
}

function block(one, size) {
  const name = `${one.measure} on ${one.scale}`;
  if (one.why) return html("section", { "aria-label": name }, html("h3", {}, name), html("p", { class: "soft" }, `${one.why}.`));
  return html(
    "section",
    { class: "curve-block stack", "aria-label": name },
    html("h3", {}, name, html("span", { class: "soft small" }, ` ${several(one.answers, "answer")}${one.unjudged ? `, ${one.unjudged} without all grades left out` : ""}`)),
    html("p", { class: "noticed" }, noticed(one)),
    html(
      "div",
      { class: "curve-pair" },
      chart({ ...one.agreement, size, kind: "agreement", title: "Prefer the better list", x: `difference in ${one.measure}`, mark: one.agreement.noticeable, half: true }),
      chart({ ...one.satisfaction, band: [], size, kind: "satisfaction", title: "Call both lists good, of those without a preference", x: `mean ${one.measure} of both lists` }),
    ),
  );
}

function chart({ bins, curve, band, why, size, kind, title, x: unit, mark, half }) {
  const caption = html("figcaption", {}, title);
  if (bins.length === 0) return html("figure", { class: "curve-figure" }, caption, html("p", { class: "soft" }, why ?? "No answers yet."));
  const x = linear([0, 1], [size.left, size.width - size.right]);
  const y = linear([0, 1], [size.height - size.bottom, size.top]);
  const most = Math.max(...bins.map((bin) => bin.n));
  const line = (points, at) => points.map((point) => `${x(point[0]).toFixed(1)},${y(point[at]).toFixed(1)}`);
  const drawing = svg(
    "svg",
    { viewBox: `0 0 ${size.width} ${size.height}`, role: "img", class: `chart curve-chart ${kind}`, "aria-label": spoken(title, bins, curve) },
    axes(size, x, y, unit),
    half && svg("line", { class: "half", x1: x(0), x2: x(1), y1: y(0.5), y2: y(0.5) }),
    band?.length > 0 && svg("polygon", { class: "band", points: [...line(band, 1), ...line(band, 2).reverse()].join(" ") }),
    ...bins.map((bin) => svg("line", { class: "whisker", x1: x(bin.at), x2: x(bin.at), y1: y(bin.lower), y2: y(bin.upper) })),
    curve.length > 0 && svg("polyline", { class: "fitted", points: line(curve, 1).join(" ") }),
    ...bins.map((bin) => svg("circle", { class: "bin", cx: x(bin.at), cy: y(bin.share), r: 3 + 4 * Math.sqrt(bin.n / most) }, svg("title", {}, binWords(bin)))),
    known(mark) && svg("g", { class: "mark-at" }, svg("line", { x1: x(mark), x2: x(mark), y1: y(0.5), y2: y(0) }), svg("text", { x: x(mark) + 5, y: y(0) - 6 }, short(mark))),
  );
  return html("figure", { class: "curve-figure" }, caption, drawing, why && html("p", { class: "soft small" }, `${why[0].toUpperCase()}${why.slice(1)}.`), numbers(title, bins));
}

function axes(size, x, y, unit) {
  const group = svg("g", { class: "axes" });
  for (const value of [0, 0.25, 0.5, 0.75, 1]) {
    group.append(
      svg("line", { class: "grid", x1: x(0), x2: x(1), y1: y(value), y2: y(value) }),
      svg("text", { x: size.left - 8, y: y(value) + 4, "text-anchor": "end" }, percent(value)),
    );
  }
  for (const value of [0, 0.2, 0.4, 0.6, 0.8, 1]) group.append(svg("text", { x: x(value), y: size.height - 24, "text-anchor": "middle" }, value === 0 || value === 1 ? String(value) : short(value).replace(/0$/, "")));
  group.append(svg("text", { class: "unit", x: x(1), y: size.height - 6, "text-anchor": "end" }, unit));
  return group;
}

const binWords = (bin) => `${short(bin.low)} to ${short(bin.high)}: ${percent(bin.share)} [${percent(bin.lower)}, ${percent(bin.upper)}] of ${count(bin.n)}`;

function spoken(title, bins, curve) {
  const [first, last] = [bins[0], bins.at(-1)];
  const ends = bins.length > 1 ? `: ${percent(first.share)} around ${short(first.at)}, ${percent(last.share)} around ${short(last.at)}` : `: ${percent(first.share)} around ${short(first.at)}`;
  return `${title}, in ${several(bins.length, "bin")}${ends}.${curve.length ? " The curve is drawn through them." : ""}`;
}

/** The same numbers to read. */
function numbers(title, bins) {
  const row = (bin) => html("tr", {}, html("td", {}, `${short(bin.low)} – ${short(bin.high)}`), html("td", { class: "number" }, count(bin.n)), html("td", { class: "number" }, percent(bin.share, 1)), html("td", { class: "number soft" }, `${percent(bin.lower, 1)} – ${percent(bin.upper, 1)}`));
  return asTable("As a table", table(`${title}, as a table`, ["bin", "n", "share", "95 % interval"], bins.map(row)));
}
