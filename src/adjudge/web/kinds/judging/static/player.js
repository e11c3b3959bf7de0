/** Two clips of which one plays at a time, with switching at the same position and honest counting of what was heard. */

import { visible } from "../shared/items.js";
import { Library } from "../shared/library.js";
import { Listened } from "../shared/listened.js";
import { draw, fetchDrawing, isHeard } from "../shared/notation.js";
import { drawSeek } from "../shared/seeking.js";
import { minutes, say } from "../shared/words.js";

const NAMES = { query: say("query"), candidate: say("candidate") };
const OTHER = { query: "candidate", candidate: "query" };

/** One card: what it shows, its audio, and how much of it was heard. */
class Clip extends Listened {
  started = false;
  looked = false;
  #dragging = false;
  #drawing = null; // of notation, once it is there
  #undrawn = false; // it could not be shown

  constructor(side, card, deck) {
    super();
    this.side = side;
    this.card = card;
    this.deck = deck;
    for (const part of ["player", "play", "seek", "now", "length", "replay", "audio", "heard", "shown", "broken", "retry", "ring"]) {
      this[part] = card.querySelector(`[data-${part}]`);
    }
    this.#listen();
  }

  #listen() {
    const { audio, seek } = this;
    this.play.addEventListener("click", () => this.deck.press(this.side));
    this.replay.addEventListener("click", () => this.deck.replay(this.side));
    this.retry.addEventListener("click", () => this.#reload());
    seek.addEventListener("input", () => {
      this.#dragging = true;
      this.moveTo(Number(seek.value));
    });
    seek.addEventListener("change", () => (this.#dragging = false));
    for (const name of ["timeupdate", "pause", "ended", "durationchange", "seeked"]) audio.addEventListener(name, () => this.look());
    audio.addEventListener("play", () => this.deck.began(this.side));
    audio.addEventListener("ended", () => this.deck.ended(this.side));
    audio.addEventListener("seeking", () => this.jump());
    audio.addEventListener("waiting", () => this.card.classList.add("is-waiting"));
    for (const name of ["playing", "canplay", "pause"]) audio.addEventListener(name, () => this.card.classList.remove("is-waiting"));
    audio.addEventListener("error", () => this.#fail());
    audio.addEventListener("loadeddata", () => (this.broken.hidden = !this.#undrawn));
  }

  get isAudio() {
    return Boolean(this.item) && isHeard(this.item);
  }

  get duration() {
    return Number.isFinite(this.audio.duration) ? this.audio.duration : (this.item?.seconds ?? 0);
  }

  get playing() {
    return this.isAudio && !this.audio.paused && !this.audio.ended;
  }

  load(item, source) {
    this.audio.pause();
    this.item = item;
    this.audio.dataset.address = item.url ?? "";
    this.heardMs = 0;
    this.started = this.looked = false;
    this.jump();
    this.broken.hidden = true;
    this.card.classList.remove("is-waiting");
    this.player.hidden = !this.isAudio;
    this.shown.hidden = this.isAudio && item.kind !== "notation";
    this.shown.replaceChildren(...(this.isAudio ? [] : [this.#visible()]));
    this.#drawing = null;
    this.#undrawn = false;
    if (item.kind === "notation") this.#show();
    if (!this.isAudio) this.audio.removeAttribute("src");
    else if (this.audio.getAttribute("src") === source && !this.audio.error) this.audio.currentTime = 0;
    else this.audio.src = source;
    this.look();
  }

  #visible() {
    return visible(this.item, {
      name: NAMES[this.side],
      labelId: `${this.side}-name`,
      looked: () => {
        this.looked = true;
        this.deck.changed();
      },
      broken: () => this.#breakDown("clip.unseen"),
      whole: () => (this.broken.hidden = true),
    });
  }

  /** Draw notation above its player; a drawing that comes after the next question has no place any more. */
  async #show() {
    const { item } = this;
    const place = document.createElement("div");
    this.shown.replaceChildren(place);
    try {
      const drawing = await draw(place, item, { name: NAMES[this.side] });
      if (this.item !== item) return;
      this.#drawing = drawing;
      if (this.#undrawn) this.broken.hidden = true;
      this.#undrawn = false;
      this.draw();
    } catch {
      if (this.item !== item) return;
      this.#undrawn = true;
      this.#breakDown("clip.unseen");
    }
  }

  moveTo(seconds) {
    this.look();
    this.jump();
    this.audio.currentTime = Math.min(Math.max(0, seconds), Math.max(0, this.duration - 0.05));
    this.draw();
  }

  /** Count what was heard since the last look; a jump is not heard. */
  look() {
    this.listen(this.audio);
    this.draw();
    this.deck.changed();
  }

  draw() {
    const { duration, audio } = this;
    const name = NAMES[this.side];
    const share = drawSeek(this.seek, { position: audio.currentTime, duration, held: this.#dragging });
    this.ring.style.strokeDashoffset = String(100 - 100 * share);
    this.now.textContent = minutes(audio.currentTime);
    this.length.textContent = minutes(duration);
    this.card.classList.toggle("is-playing", this.playing);
    if (audio.currentTime > 0 && !audio.ended) this.#drawing?.follow(audio.currentTime);
    else this.#drawing?.clear();
    const label = say(this.playing ? "clip.pause" : "clip.play", { name });
    if (this.play.getAttribute("aria-label") !== label) this.play.setAttribute("aria-label", label);
  }

  showHeard(enough, needed) {
    const shown = this.isAudio && needed > 0;
    this.heard.classList.toggle("is-enough", enough);
    this.heard.textContent = shown && enough ? `✓ ${say("clip.heard")}` : "";
    this.card.style.setProperty("--heard", String(needed > 0 ? Math.min(1, this.heardMs / needed) : 1));
  }

  #fail() {
    if (!this.audio.getAttribute("src")) return;
    const { item } = this;
    this.card.classList.remove("is-waiting");
    if (this.audio.src !== new URL(item.url, location.href).href) return this.#reload(); // a clip in memory was let go
    this.#breakDown("clip.broken");
    this.draw();
    return undefined;
  }

  #breakDown(words) {
    this.broken.querySelector("span").textContent = say(words);
    this.broken.hidden = false;
  }

  #reload() {
    if (!this.isAudio) return this.shown.replaceChildren(this.#visible());
    if (this.#undrawn) this.#show();
    const at = this.audio.currentTime;
    this.audio.src = this.item.url;
    this.audio.load();
    if (at > 0) this.audio.currentTime = at;
    return undefined;
  }
}

/** Both clips. Events: `change` (something to redraw), `blocked` (the browser wants a gesture), `play`, `pause`. */
export class Deck extends EventTarget {
  active = "query";
  #library = new Library();
  #question = null;
  #frame = 0;
  #loading = false;

  constructor(root) {
    super();
    this.clips = Object.fromEntries(
      ["query", "candidate"].map((side) => [side, new Clip(side, root.querySelector(`[data-side="${side}"]`), this)]),
    );
  }

  get current() {
    return this.clips[this.active];
  }

  get playing() {
    return Object.values(this.clips).find((clip) => clip.playing) ?? null;
  }

  /** Whether a clip cannot be played or seen. */
  get broken() {
    return Object.values(this.clips).some((clip) => !clip.broken.hidden);
  }

  load(question) {
    this.#question = question;
    this.#loading = true;
    for (const side of ["query", "candidate"]) this.clips[side].load(question[side], this.#library.source(question[side].url));
    this.#loading = false;
    this.#choose(this.clips.query.isAudio ? "query" : "candidate");
  }

  /** Have the next question's clips at hand, and let go of those that are over; resolves to whether all are here. */
  async prepare(ahead) {
    const wanted = [this.#question, ahead].flatMap((one) => (one ? [one.query, one.candidate] : []));
    this.#library.keepOnly(wanted.map((item) => item.url));
    const clips = (ahead ? [ahead.query, ahead.candidate] : []).filter(isHeard);
    const drawings = clips.filter((item) => item.drawing_url).map((item) => fetchDrawing(item.drawing_url).then(() => true, () => false));
    const here = await Promise.all([...clips.map((item) => this.#library.fetch(item.url)), ...drawings]);
    return ahead !== null && here.every(Boolean);
  }

  #choose(side) {
    this.active = side;
    for (const clip of Object.values(this.clips)) clip.card.classList.toggle("is-active", clip.side === side && clip.isAudio);
  }

  /** A press on one side: play it, from where the other one is if that is playing; pause it if it plays itself. */
  press(side) {
    const clip = this.clips[side];
    if (!clip.isAudio) return clip.shown.querySelector("a")?.click();
    if (clip.playing) return clip.audio.pause();
    const other = this.clips[OTHER[side]];
    if (other.playing) {
      const at = other.audio.currentTime;
      clip.moveTo(at < clip.duration - 0.1 ? at : 0);
    }
    return this.play(side);
  }

  /** Go over to the other side at the same position. */
  switch() {
    const from = this.current;
    const to = this.clips[OTHER[this.active]];
    if (!to.isAudio) return this.press(to.side);
    const at = from.isAudio ? from.audio.currentTime : to.audio.currentTime;
    to.moveTo(at < to.duration - 0.1 ? at : 0);
    return this.play(to.side);
  }

  toggle() {
    const playing = this.playing;
    if (playing) playing.audio.pause();
    else this.press(this.active);
  }

  resume() {
    this.play(this.active);
  }

  replay(side = this.active) {
    if (!this.clips[side].isAudio) return;
    this.clips[side].moveTo(0);
    this.play(side);
  }

  seek(seconds) {
    if (this.current.isAudio) this.current.moveTo(this.current.audio.currentTime + seconds);
  }

  pause() {
    for (const clip of Object.values(this.clips)) if (clip.playing) clip.audio.pause();
  }

  async play(side) {
    const clip = this.clips[side];
    if (!clip.isAudio) return;
    this.clips[OTHER[side]].audio.pause();
    this.#choose(side);
    if (clip.audio.ended) clip.moveTo(0);
    try {
      await clip.audio.play();
    } catch (error) {
      if (error.name === "NotAllowedError") this.dispatchEvent(new CustomEvent("blocked", { detail: side }));
    }
  }

  began(side) {
    this.clips[side].started = true;
    this.#choose(side);
    this.dispatchEvent(new CustomEvent("play", { detail: NAMES[side] }));
    cancelAnimationFrame(this.#frame);
    const step = () => {
      const playing = this.playing;
      playing?.look();
      if (playing) this.#frame = requestAnimationFrame(step);
    };
    this.#frame = requestAnimationFrame(step);
  }

  ended(side) {
    this.dispatchEvent(new CustomEvent("ended", { detail: side }));
  }

  changed() {
    if (!this.#loading) this.dispatchEvent(new Event("change"));
  }
}
