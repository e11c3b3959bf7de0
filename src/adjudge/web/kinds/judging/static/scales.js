/** Scales as something to press or slide, and the gentle question whether two grades go together. */

import { made } from "../shared/elements.js";
import { knows, number, say } from "../shared/words.js";

const SLACK = 0.2; // how far apart two grades may lie, as a share of their scales, before we ask

/** What a scale is called on the page. */
export function nameOf(scale) {
  if (knows(`scale.${scale.name}`)) return say(`scale.${scale.name}`);
  return scale.name.charAt(0).toUpperCase() + scale.name.slice(1);
}

const decimals = (scale) => (String(scale.step).split(".")[1] ?? "").length;
const levelsOf = (scale) =>
  Array.from({ length: Math.round((scale.maximum - scale.minimum) / scale.step) + 1 }, (_, place) =>
    Number((scale.minimum + place * scale.step).toFixed(decimals(scale))),
  );

/** The words of a level; those every campaign begins with are translated here. */
function labelOf(scale, place, value) {
  const label = scale.labels?.[place];
  if (label === undefined) return number(value);
  return knows(`label.${label}`) ? say(`label.${label}`) : label;
}

/** Which key chooses a level: the number itself where levels are small whole numbers, else its place. */
function keyOf(scale, place, value) {
  const byValue = !scale.labels && scale.step === 1 && scale.minimum >= 0 && Number.isInteger(scale.minimum);
  const digit = byValue ? value : place + 1;
  return digit <= 9 ? String(digit) : "";
}

/** A scale of few levels: a button each. */
class Buttons {
  constructor(scale, prefix, onchange) {
    this.scale = scale;
    this.levels = levelsOf(scale);
    this.inputs = this.levels.map((value) =>
      made("input", { type: "radio", name: `${prefix}-${scale.name}`, value: String(value), autocomplete: "off" }),
    );
    this.keys = this.levels.map((value, place) => keyOf(scale, place, value));
    const labels = this.inputs.map((input, place) => {
      const words = made("span", { className: "level-words", textContent: labelOf(scale, place, this.levels[place]) });
      const key = made("kbd", { className: "key", textContent: this.keys[place], hidden: !this.keys[place] });
      key.setAttribute("aria-hidden", "true");
      return made("label", { className: "level" }, input, words, key);
    });
    const title = made("h3", { className: "scale-name", id: `${prefix}-${scale.name}-name`, textContent: nameOf(scale) });
    const group = made("div", { className: `levels${scale.labels ? "" : " by-number"}` }, ...labels);
    group.setAttribute("role", "radiogroup");
    group.setAttribute("aria-labelledby", title.id);
    this.element = made("section", { className: "scale" }, title, group);
    this.element.addEventListener("change", () => onchange(this));
  }

  get value() {
    const checked = this.inputs.findIndex((input) => input.checked);
    return checked < 0 ? null : this.levels[checked];
  }

  set value(value) {
    this.inputs.forEach((input, place) => (input.checked = value !== null && Math.abs(this.levels[place] - value) < 1e-9));
  }

  /** Choose the level of a digit; whether there is one. */
  press(digit) {
    const place = this.keys.indexOf(digit);
    if (place < 0) return false;
    this.inputs[place].checked = true;
    this.element.dispatchEvent(new Event("change"));
    return true;
  }

  get words() {
    return labelOf(this.scale, this.levels.indexOf(this.value), this.value);
  }

  get missing() {
    return this.value === null ? say("missing.level", { scale: nameOf(this.scale) }) : null;
  }

  focus() {
    (this.inputs.find((input) => input.checked) ?? this.inputs[0]).focus();
  }
}

/** A scale of many levels: a slider that is empty until it is touched, and a number to type. */
class Slider {
  #value = null;

  constructor(scale, prefix, onchange) {
    const { minimum: min, maximum: max, step } = scale;
    this.scale = scale;
    this.onchange = onchange;
    const title = made("h3", { className: "scale-name", id: `${prefix}-${scale.name}-name`, textContent: nameOf(scale) });
    this.range = made("input", { type: "range", className: "slide", min, max, step, autocomplete: "off" });
    this.range.setAttribute("aria-labelledby", title.id);
    this.box = made("input", { type: "number", className: step % 1 ? "amount of-fractions" : "amount", min, max, step, inputMode: step % 1 ? "decimal" : "numeric", placeholder: "–", autocomplete: "off" });
    this.box.setAttribute("aria-label", say("scale.number", { name: nameOf(scale), minimum: number(min), maximum: number(max) }));
    const ends = made("div", { className: "ends" }, made("span", { textContent: number(min) }), made("span", { className: "ends-hint", textContent: say("scale.touch") }), made("span", { textContent: number(max) }));
    ends.setAttribute("aria-hidden", "true");
    const track = made("div", { className: "track" }, this.range, ends);
    this.element = made("section", { className: "scale by-slider" }, title, made("div", { className: "slide-row" }, track, this.box));
    this.#listen();
    this.value = null;
  }

  #listen() {
    let before = null;
    this.range.addEventListener("pointerdown", () => (before = this.#value));
    this.range.addEventListener("pointerup", () => this.#give(Number(this.range.value))); // also where nothing moved
    this.range.addEventListener("pointercancel", () => this.#give(before)); // it was the page that was scrolled
    this.range.addEventListener("input", () => this.#give(Number(this.range.value)));
    this.range.addEventListener("keydown", (event) => this.#key(event));
    this.box.addEventListener("input", () => this.#give(this.#typed(), { typing: true }));
    this.box.addEventListener("blur", () => this.#give(this.#value));
  }

  #typed() {
    const value = this.box.valueAsNumber;
    if (Number.isNaN(value)) return null;
    const { minimum, maximum, step } = this.scale;
    const steps = (value - minimum) / step;
    return value >= minimum && value <= maximum && Math.abs(steps - Math.round(steps)) < 1e-6 ? value : null;
  }

  #key(event) {
    const ends = { Home: this.scale.minimum, End: this.scale.maximum };
    const moves = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10 };
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key in ends) this.#give(ends[event.key]);
    else if (event.key in moves) this.move(moves[event.key] * (event.shiftKey ? 10 : 1));
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Move by so many steps; an empty slider is entered from the end that the move comes from. */
  move(steps) {
    const { minimum, maximum, step } = this.scale;
    const from = this.#value ?? (steps > 0 ? minimum : maximum);
    const to = Math.min(maximum, Math.max(minimum, from + steps * step));
    this.#give(Number(to.toFixed(decimals(this.scale))));
  }

  #give(value, { typing = false } = {}) {
    const changed = value !== this.#value;
    this.#show(value, typing);
    if (changed) this.onchange(this);
  }

  #show(value, typing = false) {
    const { minimum, maximum } = this.scale;
    this.#value = value;
    this.element.classList.toggle("is-empty", value === null);
    this.range.value = String(value ?? (minimum + maximum) / 2);
    this.range.style.setProperty("--share", String(value === null ? 0 : (value - minimum) / (maximum - minimum)));
    this.range.setAttribute("aria-valuetext", value === null ? say("scale.empty") : number(value));
    if (!typing) this.box.value = value === null ? "" : String(value);
  }

  get value() {
    return this.#value;
  }

  set value(value) {
    this.#show(value);
  }

  get words() {
    return number(this.#value);
  }

  get missing() {
    return this.#value === null ? say("missing.value", { scale: nameOf(this.scale) }) : null;
  }

  focus() {
    this.range.focus();
  }
}

/** One field for each scale, in a container. */
export class Fields {
  constructor(container, scales, prefix, onchange) {
    this.all = scales.map((scale) => new (scale.by_buttons ? Buttons : Slider)(scale, prefix, onchange));
    container.replaceChildren(...this.all.map((field) => field.element));
  }

  get buttons() {
    return this.all.filter((field) => field instanceof Buttons);
  }

  get sliders() {
    return this.all.filter((field) => field instanceof Slider);
  }

  get grades() {
    return Object.fromEntries(this.all.filter((field) => field.value !== null).map((field) => [field.scale.name, field.value]));
  }

  set grades(grades) {
    for (const field of this.all) field.value = grades[field.scale.name] ?? null;
  }

  get missing() {
    return this.all.map((field) => field.missing).filter((words) => words !== null);
  }

  /** The field that a key means: the one in focus, else the first without a grade, else the first. */
  meant(fields) {
    const focused = fields.find((field) => field.element.contains(document.activeElement));
    return focused ?? fields.find((field) => field.value === null) ?? fields[0] ?? null;
  }

  /** Two grades that hardly go together, the coarser first; null where all do. */
  get doubt() {
    const ordered = [...this.all].sort((one, other) => levelsOf(one.scale).length - levelsOf(other.scale).length);
    for (const [place, coarse] of ordered.entries()) {
      for (const fine of ordered.slice(place + 1)) if (apart(coarse, fine) > SLACK) return { coarse, fine };
    }
    return null;
  }
}

/** The part of the whole scale that a grade stands for: level i of n stands for i/n to (i+1)/n. */
function part({ scale, value }) {
  const n = levelsOf(scale).length;
  const place = Math.round((value - scale.minimum) / scale.step);
  return [place / n, (place + 1) / n];
}

/** The gap between what two grades stand for, as a share of the scale; 0 where they overlap. */
function apart(one, other) {
  if (one.value === null || other.value === null) return 0;
  const [low, high] = part(one);
  const [lowest, highest] = part(other);
  return Math.max(0, lowest - high, low - highest);
}
