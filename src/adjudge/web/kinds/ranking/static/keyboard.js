/** Which key does what where candidates are put in order, and the numbers that are typed. */

import { belongsToControl, listenToKeys } from "../shared/keys.js";

const TYPING_MS = 1500; // a number counts by itself after this pause
const ON_WITH_A_NUMBER = new Set([..."0123456789", "t", "enter", "backspace", "shift"]); // every other key gives it up

/** A number that is being typed for the card in focus. `show` gets its digits; `commit(n, tied)` uses it. */
class Typed {
  #digits = "";
  #timer = null;

  constructor({ show, commit }) {
    this.show = show;
    this.commit = commit;
  }

  get begun() {
    return this.#digits !== "";
  }

  add(digit) {
    if (digit === "0" && !this.begun) return;
    this.#write((this.#digits + digit).slice(0, 3));
  }

  back() {
    this.#write(this.#digits.slice(0, -1));
  }

  cancel() {
    if (this.begun) this.#write("");
  }

  /** Use it: in a place of its own, or beside those who are there. */
  use({ tied = false } = {}) {
    const n = Number(this.#digits);
    this.#write("");
    this.commit(n, tied);
  }

  #write(digits) {
    this.#digits = digits;
    clearTimeout(this.#timer);
    if (digits) this.#timer = setTimeout(() => this.use(), TYPING_MS);
    this.show(digits);
  }
}

/** Listen to the page; `actions` has a function for each thing a key can do. Returns what gives a typed number up. */
export function listen(actions) {
  const typed = new Typed({ show: actions.typing, commit: actions.place });
  const plain = {
    arrowup: () => actions.step("previous"),
    arrowdown: () => actions.step("next"),
    arrowleft: () => actions.step("list"),
    arrowright: () => actions.step("tray"),
    home: () => actions.step("first"),
    end: () => actions.step("last"),
    " ": () => actions.toggle(),
    q: () => actions.query(),
    r: () => actions.replay(),
    ",": () => actions.seek(-2),
    ".": () => actions.seek(2),
    t: () => (typed.begun ? typed.use({ tied: true }) : actions.tie()),
    u: () => actions.unrank(),
    delete: () => actions.unrank(),
    backspace: () => (typed.begun ? typed.back() : actions.unrank()),
    enter: () => (typed.begun ? typed.use() : actions.enter()),
    m: () => actions.menu(),
    k: () => actions.skip(),
    "?": () => actions.help(),
  };

  addEventListener("keydown", (event) => event.key === "Escape" && typed.cancel(), true);
  addEventListener("focusout", () => typed.cancel(), true);
  addEventListener("pointerdown", () => typed.cancel(), true);

  /** Arrows are the page's also on the buttons of a card, where they have no use of their own. */
  const belongs = (event) => belongsToControl(event) || (event.key.startsWith("Arrow") && event.target.matches?.(".clip-text[tabindex]"));

  listenToKeys((event) => {
    const key = event.key.toLowerCase();
    if (!ON_WITH_A_NUMBER.has(key) || event.ctrlKey || event.metaKey || event.altKey) typed.cancel();
    if ((event.ctrlKey || event.metaKey) && !event.altKey) {
      if (key === "z") return event.shiftKey ? () => actions.redo() : () => actions.undo();
      if (key === "y" && !event.shiftKey) return () => actions.redo();
      return key === "enter" ? () => actions.send() : null;
    }
    if (event.altKey) return { arrowup: () => actions.up(), arrowdown: () => actions.down() }[key] ?? null;
    if (/^[0-9]$/.test(key)) return actions.mayType() ? () => typed.add(key) : null;
    return plain[key] ?? null;
  }, belongs);
}
