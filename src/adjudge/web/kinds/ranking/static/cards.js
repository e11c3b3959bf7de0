/** A card a candidate: what it looks like, what plays it, and the buttons that move it. The query is a card that stays. */

import { Track } from "../shared/deck.js";
import { made, ring, svg } from "../shared/elements.js";
import { visible } from "../shared/items.js";
import { draw } from "../shared/notation.js";
import { announce, blink } from "../shared/page.js";
import { minutes, number, say } from "../shared/words.js";

const LONG_TEXT = 600; // characters: longer ones scroll inside their card

const glyph = (path) => svg("svg", { class: "glyph", viewBox: "0 0 24 24", "aria-hidden": "true", focusable: "false" }, svg("path", { d: path }));

/** Something of a query's question, to hear, see or read. `n` counts candidates from 1; the query has 0. */
export class Card extends Track {
  unseen = false; // its notation does not come
  #drawing = null;
  #seen = null; // promise of its drawing
  #label = "";

  constructor(item, { n, listenSeconds, deck }) {
    const name = n ? say(item.kind === "notation" ? "rank.name.notation" : "rank.name.candidate", { n: number(n) }) : say("query");
    super(item, { name, listenSeconds });
    Object.assign(this, { n, deck, id: item.id ?? null });
    this.#build();
  }

  #build() {
    const isQuery = this.n === 0;
    this.element = made(isQuery ? "div" : "li", { className: "incipit" });
    this.element.dataset.address = this.item.url ?? "";
    this.body = made("div", { className: "incipit-in" });
    this.body.setAttribute("role", "group");
    this.sight = made("div", { className: "incipit-sight" });
    this.trouble = made("p", { className: "incipit-broken notice bad small", hidden: true }, made("span"), this.#again());
    const parts = [this.isAudio ? this.#playButton() : null, this.sight];
    if (isQuery) parts.unshift(made("span", { className: "query-tag", ariaHidden: "true", textContent: this.name }));
    if (!isQuery) {
      this.element.dataset.id = String(this.id);
      this.body.tabIndex = -1;
      parts.unshift(this.#grip());
      parts.push(this.#button("add", "rank.add", "M12 5v14M5 12h14"), this.#button("more", "rank.more", "M5 12h.01M12 12h.01M19 12h.01"));
    }
    this.body.append(...parts.filter(Boolean), this.trouble);
    this.element.append(this.body);
    this.label = this.name;
    this.#see();
    if (!isQuery) this.reachable = false;
  }

  #playButton() {
    const { picture, value } = ring();
    this.ring = value;
    this.button = made("button", { type: "button", className: "incipit-play" }, picture);
    this.button.addEventListener("click", () => this.deck.press(this));
    return this.button;
  }

  /** Where it is taken to be dragged, with its number, which stays whatever its place, and a tick once it was heard. */
  #grip() {
    const dots = glyph("M9 6h.01M9 12h.01M9 18h.01M15 6h.01M15 12h.01M15 18h.01");
    const tag = made("span", { className: "incipit-tag", textContent: `№ ${number(this.n)}` });
    return made("span", { className: "grip", ariaHidden: "true" }, dots, tag, made("span", { className: "incipit-tick", textContent: "✓" }));
  }

  #button(what, words, path) {
    const button = made("button", { type: "button", className: `button quiet icon incipit-${what}`, title: say(words, { name: this.name }) }, glyph(path));
    button.setAttribute("aria-label", say(words, { name: this.name }));
    button.dataset[what] = "";
    if (what === "more") button.setAttribute("aria-haspopup", "dialog");
    return button;
  }

  #again() {
    const button = made("button", { type: "button", className: "button small", textContent: say("clip.retry") });
    button.setAttribute("aria-label", `${say("clip.retry")}: ${this.name}`);
    button.addEventListener("click", () => {
      if (this.unseen) this.engrave();
      else if (this.isAudio) this.deck.retry(this);
      else this.#see();
    });
    return button;
  }

  #see() {
    const change = (values) => {
      Object.assign(this, values);
      this.draw();
      this.deck.dispatchEvent(new Event("change"));
    };
    if (this.item.kind === "audio") this.sight.replaceChildren(this.#line());
    else if (this.item.kind !== "notation") {
      this.sight.replaceChildren(
        visible(this.item, {
          name: this.name,
          labelId: `incipit-${this.n}`,
          looked: () => change({ looked: true }),
          broken: () => change({ broken: true }),
          whole: () => change({ broken: false }),
        }),
      );
      this.body.id = `incipit-${this.n}`;
      const text = this.sight.querySelector(".clip-text");
      if (text && text.textContent.length < LONG_TEXT) for (const name of ["tabindex", "role", "aria-labelledby"]) text.removeAttribute(name);
      for (const image of this.sight.querySelectorAll("img")) image.draggable = false;
    }
  }

  #line() {
    this.bar = made("i");
    this.time = made("span", { className: "incipit-time", textContent: minutes(this.duration) });
    return made("span", { className: "incipit-line", ariaHidden: "true" }, made("span", {}, this.bar), this.time);
  }

  /** Have its notation on the page; resolves to whether it is there. */
  engrave() {
    if (this.item.kind !== "notation" || !this.item.drawing_url) return Promise.resolve(true);
    this.#seen ??= draw(this.sight, this.item, { name: this.name }).then(
      (drawing) => {
        this.#drawing = drawing;
        return this.#notice({ unseen: false });
      },
      () => {
        this.#seen = null; // it is tried again when it is wanted again
        return this.#notice({ unseen: true });
      },
    );
    return this.#seen;
  }

  /** Know that its notation is there, or not; whether it is. */
  #notice({ unseen }) {
    this.unseen = unseen;
    this.draw();
    return !unseen;
  }

  /** What people who do not see it are told: its name, its place, whether it was heard. */
  set label(label) {
    if (label === this.#label) return;
    this.#label = label;
    this.body.setAttribute("aria-label", label);
  }

  /** Show whether it plays, where, and how much of it was heard. */
  draw() {
    const { deck, element } = this;
    const playing = deck.playing === this;
    element.classList.toggle("is-playing", playing);
    element.classList.toggle("is-waiting", playing && deck.isWaiting);
    element.classList.toggle("is-done", this.isRequired && this.isDone);
    this.#drawTrouble();
    if (!this.isAudio) return;
    const share = this.duration > 0 ? Math.min(1, this.at / this.duration) : 0;
    this.ring.style.strokeDashoffset = String(100 - 100 * (playing || this.at > 0 ? share : 0));
    if (this.bar) this.bar.style.transform = `scaleX(${share})`;
    if (this.time && this.time.textContent !== minutes(this.duration)) this.time.textContent = minutes(this.duration);
    const label = say(playing ? "clip.pause" : "clip.play", { name: this.name });
    if (this.button.getAttribute("aria-label") !== label) this.button.setAttribute("aria-label", label);
    if (playing) this.#drawing?.follow(this.at);
    else this.#drawing?.clear();
  }

  #drawTrouble() {
    const amiss = this.broken || this.unseen;
    const words = say(this.isAudio && !this.unseen ? "clip.broken" : "clip.unseen");
    if (this.trouble.hidden !== amiss && !(amiss && this.trouble.firstChild.textContent !== words)) return;
    this.trouble.firstChild.textContent = words;
    if (!amiss && this.trouble.contains(document.activeElement)) (this.n ? this.body : this.button)?.focus({ preventScroll: true });
    this.trouble.hidden = !amiss;
    if (amiss) announce(`${this.name}: ${words}`);
  }

  /** Which keys reach its buttons: those of one card at a time, so that Tab does not go through fifty. */
  set reachable(is) {
    this.body.tabIndex = is ? 0 : -1;
    for (const button of this.body.querySelectorAll("button, a")) button.tabIndex = is ? 0 : -1;
  }

  /** Point to it. */
  nod() {
    blink(this.element);
  }
}
