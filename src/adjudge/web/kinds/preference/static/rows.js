/** How the things of a question look: a button with a ring that fills while it is heard, or what is read, seen or opened. */

import { made, ring } from "../shared/elements.js";
import { visible } from "../shared/items.js";
import { draw } from "../shared/notation.js";
import { announce, blink } from "../shared/page.js";
import { minutes, say } from "../shared/words.js";

export class Row {
  #label = "";

  /** `key` is the key that plays it, or nothing. */
  constructor(track, deck, { tag = "li", key = "" } = {}) {
    this.track = track;
    this.deck = deck;
    this.element = made(tag, { className: track.isAudio ? "track" : "track is-shown" });
    Object.assign(this.element.dataset, { place: track.place, rank: String(track.rank), address: track.item.url ?? "" });
    if (track.isAudio) this.#fillWithSound(key);
    else this.#fillWithSight();
    if (track.item.kind === "notation") this.#fillWithNotation();
    this.broken = made("p", { className: "track-broken notice bad small", hidden: true }, made("span", {}), this.#again());
    this.element.append(this.broken);
  }

  get #shortName() {
    return this.track.place === "query" ? this.track.name : String(this.track.rank);
  }

  #fillWithSound(key) {
    const { picture, value } = ring();
    this.ring = value;
    this.bar = made("i");
    this.button = made("button", { type: "button", className: "track-play" });
    const line = made("span", { className: "track-line" }, this.bar);
    const name = made("span", { className: "track-name", textContent: this.#shortName });
    this.time = made("span", { className: "track-time" });
    const tick = made("span", { className: "track-tick", textContent: "✓" });
    const shortcut = made("kbd", { className: key ? "key" : "key is-none", textContent: key || "0" }); // one width for all
    for (const part of [line, name, this.time, tick, shortcut]) part.setAttribute("aria-hidden", "true");
    this.button.append(picture, name, line, this.time, tick, shortcut);
    if (key) this.button.setAttribute("aria-keyshortcuts", key);
    this.button.addEventListener("click", () => this.deck.press(this.track));
    this.element.append(this.button);
  }

  #fillWithSight() {
    const { track } = this;
    const id = `name-${track.place}-${track.rank}`;
    const name = made("span", { className: "track-name", id, textContent: this.#shortName });
    name.setAttribute("aria-label", track.name);
    name.setAttribute("role", "img");
    this.tick = made("span", { className: "track-tick", textContent: "✓" });
    this.tick.setAttribute("aria-hidden", "true");
    this.sight = made("div", { className: "track-sight" });
    this.element.append(name, this.sight, this.tick);
    this.#see();
  }

  /** What is played, drawn below its button. */
  async #fillWithNotation() {
    const { track } = this;
    this.place ??= made("div", { className: "track-notation" });
    this.element.append(this.place);
    try {
      this.drawing = await draw(this.place, track.item, { name: track.name });
    } catch {
      this.place.textContent = say("clip.unseen");
    }
  }

  #see() {
    const { track, deck } = this;
    const change = (values) => {
      Object.assign(track, values);
      deck.dispatchEvent(new Event("change"));
    };
    this.sight.replaceChildren(
      visible(track.item, {
        name: track.name,
        labelId: `name-${track.place}-${track.rank}`,
        looked: () => change({ looked: true }),
        broken: () => change({ broken: true }),
        whole: () => change({ broken: false }),
      }),
    );
  }

  #again() {
    const button = made("button", { type: "button", className: "button small", textContent: say("clip.retry") });
    button.setAttribute("aria-label", `${say("clip.retry")}: ${this.track.name}`);
    button.addEventListener("click", () => (this.track.isAudio ? this.deck.retry(this.track) : this.#see()));
    return button;
  }

  draw() {
    const { track, deck, element } = this;
    element.classList.toggle("is-done", track.isRequired && track.isDone);
    element.classList.toggle("is-broken", track.broken);
    if (this.broken.hidden === track.broken) {
      const words = say(track.isAudio ? "clip.broken" : "clip.unseen");
      this.broken.firstChild.textContent = words;
      this.broken.hidden = !track.broken;
      if (track.broken) announce(`${track.name}: ${words}`);
    }
    if (!track.isAudio) return;
    const playing = deck.playing === track;
    element.classList.toggle("is-playing", playing);
    element.classList.toggle("is-active", deck.active === track);
    element.classList.toggle("is-waiting", playing && deck.isWaiting);
    this.ring.style.strokeDashoffset = String(100 - 100 * (track.isRequired ? track.share : 0));
    this.bar.style.transform = `scaleX(${track.duration > 0 ? Math.min(1, track.at / track.duration) : 0})`;
    if (deck.active === track && track.at > 0) this.drawing?.follow(track.at);
    else this.drawing?.clear();
    const time = minutes(track.duration);
    if (this.time.textContent !== time) this.time.textContent = time;
    this.#name(playing);
  }

  #name(playing) {
    const { track } = this;
    const what = say(playing ? "clip.pause" : "clip.play", { name: track.name });
    const heard = track.isRequired ? `, ${say(track.isDone ? "prefer.heard.yes" : "prefer.heard.no")}` : "";
    const label = what + heard;
    if (label === this.#label) return;
    this.#label = label;
    this.button.setAttribute("aria-label", label);
  }

  /** Point to it: it is still missing. */
  nod() {
    blink(this.element);
  }
}
