/* How the goal came nearer, judgment by judgment, and where that leads if it goes on like this. */

import { count, decimal, html, known, linear, svg, ticks } from "../organiser/drawing.js";
import { asTable, table } from "../organiser/tables.js";

const SIZE = { width: 640, height: 250, left: 46, right: 18, top: 16, bottom: 34 };
const PHONE = { width: 360, height: 220, left: 42, right: 12, top: 16, bottom: 34 };

/** Draw value against judgments, the goal, and the projection with its range. */
export function drawTrajectory(place, picture, words) {
  const size = place.clientWidth < 460 ? PHONE : SIZE;
  const points = picture.trajectory.filter(([, value]) => known(value));
  const { wanted } = picture.status;
  const goal = words.bounded ? wanted : null;
  if (points.length === 0) {
    place.replaceChildren(html("p", { class: "soft" }, "The line begins with the first judgments."));
    return;
  }
  const ahead = projected(picture, goal);
  const x = linear([0, widest(picture, points, ahead)], [size.left, size.width - size.right]);
  const [low, high] = reach(points, goal, words.falling);
  const y = linear([low, high], [size.height - size.bottom, size.top]);
  const drawing = svg(
    "svg",
    { viewBox: `0 0 ${size.width} ${size.height}`, role: "img", "aria-label": spoken(points, goal, words), class: "chart" },
    axes(size, x, y, low, high, widest(picture, points, ahead)),
    ahead && fan(ahead, points.at(-1), goal, x, y, widest(picture, points, ahead)),
    goal !== null && goalLine(goal, size, y, words),
    curve(points, x, y),
  );
  place.replaceChildren(drawing, numbers(points, words));
}

function widest(picture, points, ahead) {
  const last = points.at(-1)[0];
  return Math.max(10, last * 1.06, ahead ? Math.min(ahead.high * 1.03, last * 4 + 200) : 0);
}

function projected(picture, goal) {
  const { remaining, low, high } = picture.projection;
  if (goal === null || !known(remaining) || remaining <= 0 || picture.status.done) return null;
  const from = picture.status.judged;
  return { middle: from + remaining, low: from + (low ?? remaining), high: from + (high ?? remaining) };
}

function reach(points, goal, falling) {
  const values = points.map(([, value]) => value).concat(goal === null ? [] : [goal]);
  const low = falling ? 0 : Math.max(-1, Math.min(...values) - 0.02);
  const high = falling ? Math.max(...values) * 1.08 : Math.min(1, Math.max(...values) + 0.02);
  return [low, high === low ? low + 0.1 : high];
}

function axes(size, x, y, low, high, widest) {
  const group = svg("g", { class: "axes" });
  for (const value of ticks(low, high, 4)) {
    group.append(
      svg("line", { x1: size.left, x2: size.width - size.right, y1: y(value), y2: y(value), class: "grid" }),
      svg("text", { x: size.left - 8, y: y(value) + 4, "text-anchor": "end" }, decimal(value, 2)),
    );
  }
  for (const value of ticks(0, widest, size === PHONE ? 3 : 6)) {
    group.append(svg("text", { x: x(value), y: size.height - 14, "text-anchor": "middle" }, count(value)));
  }
  group.append(svg("text", { x: size.width - size.right, y: size.height - 1, "text-anchor": "end", class: "unit" }, "judgments"));
  return group;
}

function goalLine(goal, size, y, words) {
  const above = y(goal) > size.top + 14;
  return svg(
    "g",
    { class: "goal" },
    svg("line", { x1: size.left, x2: size.width - size.right, y1: y(goal), y2: y(goal) }),
    svg("text", { x: size.left + 6, y: y(goal) + (above ? -6 : 15) }, `goal ${words.show(goal, 0)}`),
  );
}

/** Ways to the goal, as far as the axis goes: what lies beyond it would cover the cards beside. */
function fan(ahead, [judged, value], goal, x, y, most) {
  const end = (at) => [x(Math.min(at, most)), y(at > most ? value + ((goal - value) * (most - judged)) / (at - judged) : goal)];
  const corner = ahead.low < most && ahead.high > most ? [[x(most), y(goal)]] : [];
  const outline = [[x(judged), y(value)], end(ahead.low), ...corner, end(ahead.high)];
  const [right, up] = end(ahead.middle);
  return svg(
    "g",
    { class: "ahead" },
    svg("polygon", { points: outline.join(" ") }),
    svg("line", { x1: x(judged), y1: y(value), x2: right, y2: up }),
    ahead.middle <= most && svg("circle", { cx: right, cy: up, r: 4 }),
  );
}

function curve(points, x, y) {
  const path = points.map(([judged, value]) => `${x(judged).toFixed(1)},${y(value).toFixed(1)}`);
  const [judged, value] = points.at(-1);
  return svg(
    "g",
    { class: "curve" },
    svg("polyline", { points: path.join(" ") }),
    svg("circle", { cx: x(judged), cy: y(value), r: 9, class: "pulse" }),
    svg("circle", { cx: x(judged), cy: y(value), r: 4.5 }),
  );
}

function spoken(points, goal, words) {
  const [judged, value] = points.at(-1);
  const [first, began] = points[0];
  const aim = goal === null ? "" : ` The goal is ${words.show(goal)}.`;
  return `${words.name}: from ${words.show(began)} after ${count(first)} judgments to ${words.show(value)} after ${count(judged)}.${aim}`;
}

/** The same numbers to read, at most two dozen of them. */
function numbers(points, words) {
  const every = Math.ceil(points.length / 24);
  const rows = points
    .filter((_, i) => i % every === 0 || i === points.length - 1)
    .map(([judged, value]) => html("tr", {}, html("td", { class: "number" }, count(judged)), html("td", { class: "number" }, words.show(value))));
  return asTable("As a table", table("The way to the goal as a table", ["judgments", words.name], rows, { isNumber: () => true }));
}
