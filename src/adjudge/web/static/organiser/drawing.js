/* What every chart needs: elements, scales of numbers, and numbers as people read them. */

import { html, svg } from "../shared/elements.js";

export { html, svg };

const whole = new Intl.NumberFormat("en");
export const calm = matchMedia("(prefers-reduced-motion: reduce)");

/** A function from numbers to pixels; a domain of no width maps to the middle. */
export function linear([low, high], [from, to]) {
  if (high === low) return () => (from + to) / 2;
  return (value) => from + ((value - low) / (high - low)) * (to - from);
}

/** Round numbers that cover an interval: about `count` of them. */
export function ticks(low, high, count = 5) {
  const span = high - low;
  if (!(span > 0)) return [low];
  const rough = 10 ** Math.floor(Math.log10(span / count));
  const step = rough * [1, 2, 5, 10].find((factor) => span / (rough * factor) <= count);
  const found = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i += 1) found.push(i * step || 0);
  return found;
}

export const known = (value) => typeof value === "number" && Number.isFinite(value);
export const count = (value) => (known(value) ? whole.format(Math.round(value)) : "–");
export const decimal = (value, digits = 3) => (known(value) ? value.toFixed(digits).replace("-", "−") : "–");
export const signed = (value, digits = 2) =>
  known(value) ? `${value > 0 ? "+" : value < 0 ? "−" : "±"}${Math.abs(value).toFixed(digits)}` : "–";
export const percent = (share, digits = 0) => (known(share) ? `${(share * 100).toFixed(digits)} %` : "–");
export const several = (number, one, many = `${one}s`) => `${count(number)} ${number === 1 ? one : many}`;

/** A bar that is filled to a share, perhaps with what is in work behind it, the share in percent, and `facts` below. */
export function progress({ share, work = 0, words, done, facts }) {
  const bar = svg(
    "svg",
    { class: `big-bar ${done ? "done" : ""}`, viewBox: "0 0 600 36", preserveAspectRatio: "none", role: "img", "aria-label": words },
    svg("rect", { class: "track", width: 600, height: 36 }),
    work > 0 && svg("rect", { class: "in-work", x: 600 * share, width: 600 * work, height: 36 }),
    share > 0 && svg("rect", { class: "filled", width: Math.max(6, 600 * share), height: 36 }),
  );
  return [
    html("div", { class: "bar-row" }, bar, html("strong", { class: "bar-value", "aria-hidden": "true" }, nearly(share))),
    html("p", { class: "row between small" }, html("span", {}, facts[0]), html("span", { class: "soft" }, facts[1])),
  ];
}

/** A share in percent that is not 100 % before everything is there. */
export const nearly = (share) => percent(share, share > 0.995 && share < 1 ? 1 : 0);

/** How long something takes, for people: "40 s", "12 min", "3 h". */
export function lasting(seconds) {
  if (!known(seconds)) return "–";
  if (seconds < 90) return `${seconds < 10 ? Math.round(seconds * 10) / 10 : Math.round(seconds)} s`;
  if (seconds < 90 * 60) return `${Math.round(seconds / 60)} min`;
  if (seconds < 48 * 3600) return `${Math.round(seconds / 360) / 10} h`;
  return `${Math.round(seconds / 86400)} days`;
}

/** How long ago a moment was; clocks that differ by a little do not see the future. */
export function since(moment, now = Date.now() / 1000) {
  if (!known(moment)) return "never";
  const seconds = Math.max(0, now - moment);
  return seconds < 20 ? "now" : `${lasting(seconds)} ago`;
}

/** Numbers that roll to their new value, so that the eye sees that something came in. */
export function roll(element, value, show = count) {
  const before = Number(element.dataset.value ?? NaN);
  element.dataset.value = String(value ?? NaN);
  if (!known(value) || !known(before) || before === value || calm.matches) {
    element.textContent = show(value);
    return;
  }
  const start = performance.now();
  const step = (now) => {
    if (element.dataset.value !== String(value)) return;
    const part = Math.min(1, (now - start) / 500);
    element.textContent = show(before + (value - before) * (1 - (1 - part) ** 3));
    if (part < 1) requestAnimationFrame(step);
    else element.textContent = show(value);
  };
  requestAnimationFrame(step);
  element.animate?.([{ color: "var(--accent)" }, {}], { duration: 900 });
}
