/** The clips of a question, of which one plays at a time.
 *
 * All play through one audio element: phones let an element that somebody started by a touch go on with the next clip by
 * itself, and no other. A *tour* plays the beginnings of several clips one after another. Events: `change` (something to
 * redraw), `play` {track}, `toured` (a tour is over), `blocked` (the browser wants a gesture).
 */

import { Library } from "./library.js";
import { Listened, neededMs } from "./listened.js";
import { fetchDrawing, isHeard } from "./notation.js";

const A_BIT_MS = 1500; // what a tour plays of each clip beyond what must be heard
const SHORTEST_MS = 3000; // of a clip in a tour, where little or nothing must be heard

/** Something of a question, to hear, see or read; `name` is what the page calls it. */
export class Track extends Listened {
  at = 0; // seconds: where it goes on
  looked = false; // whether somebody opened it
  broken = false; // it does not play, or its picture does not come

  constructor(item, { name, listenSeconds }) {
    super();
    Object.assign(this, { item, name, listenSeconds, duration: item.seconds ?? 0 });
  }

  get isAudio() {
    return isHeard(this.item);
  }

  get neededMs() {
    return neededMs(this.item, this.listenSeconds, this.duration);
  }

  /** Whether it must be heard before an answer counts. */
  get isRequired() {
    return this.neededMs > 0;
  }

  /** How much of what must be heard was heard, from 0 to 1. */
  get share() {
    return this.neededMs > 0 ? Math.min(1, Math.floor(this.heardMs) / this.neededMs) : 1;
  }

  get isDone() {
    return this.share >= 1;
  }
}

export class Deck extends EventTarget {
  tracks = [];
  active = null;
  #audio;
  #library;
  #tour = null; // { name, tracks still to play, the one that plays first }
  #frame = 0;

  constructor(audio, library = new Library()) {
    super();
    this.#audio = audio;
    this.#library = library;
    for (const name of ["timeupdate", "pause", "seeked", "durationchange"]) audio.addEventListener(name, () => this.#look());
    audio.addEventListener("seeking", () => this.active?.jump());
    audio.addEventListener("play", () => this.#began());
    audio.addEventListener("ended", () => this.#ended());
    audio.addEventListener("error", () => this.#fail());
    for (const name of ["waiting", "playing", "canplay"]) audio.addEventListener(name, () => this.#changed());
  }

  get playing() {
    return this.active && !this.#audio.paused && !this.#audio.ended ? this.active : null;
  }

  /** The tour that plays; null where none does. */
  get touring() {
    return this.playing && this.#tour ? this.#tour.name : null;
  }

  get isWaiting() {
    return Boolean(this.playing) && this.#audio.readyState < HTMLMediaElement.HAVE_FUTURE_DATA;
  }

  get position() {
    return this.active?.at ?? 0;
  }

  load(tracks) {
    this.pause();
    this.#tour = null;
    this.active = null;
    this.tracks = tracks;
    const first = tracks.find((track) => track.isAudio);
    if (first) this.#take(first);
    this.#changed();
  }

  /** Have the clips at hand, those of the next question last; resolves to whether all of them are here. */
  async prepare(upcoming) {
    const here = this.tracks.map((track) => track.item);
    const addresses = (items) => items.filter(isHeard).map((item) => item.url);
    const drawn = (upcoming ?? []).filter((item) => item.drawing_url).map((item) => fetchDrawing(item.drawing_url).then(() => true, () => false));
    this.#library.keepOnly(addresses([...here, ...(upcoming ?? [])]));
    await Promise.all(addresses(here).map((address) => this.#library.fetch(address)));
    if (!upcoming) return false;
    const fetched = await Promise.all([...addresses(upcoming).map((address) => this.#library.fetch(address)), ...drawn]);
    return fetched.every(Boolean);
  }

  /* ---------- playing ---------- */

  /** A press on one: play it, or pause it if it plays. */
  press(track) {
    if (!track?.isAudio) return;
    if (this.playing === track) return this.pause();
    if (this.active !== track) this.#tour = null;
    this.#play(track);
  }

  toggle() {
    if (this.playing) this.pause();
    else this.resume();
  }

  resume() {
    if (this.active) this.#play(this.active);
  }

  pause() {
    this.#audio.pause();
  }

  /** Play the beginnings of clips one after another, those not heard yet if there are any; again: pause, go on. */
  tour(name, tracks) {
    if (this.#tour?.name === name && this.active === this.#tour.tracks[0]) return this.toggle();
    const whole = tracks.filter((track) => track.isAudio && !track.broken);
    const lacking = whole.filter((track) => !track.isDone);
    const chosen = lacking.length ? lacking : whole;
    if (!chosen.length) return;
    for (const track of chosen) track.at = 0;
    this.#tour = { name, tracks: chosen };
    this.#play(chosen[0], { anew: true });
  }

  /** The clip so many places on or back. */
  step(places) {
    const clips = this.tracks.filter((track) => track.isAudio);
    const to = clips[(clips.indexOf(this.active) + places + clips.length) % clips.length];
    if (!to) return;
    this.#tour = null;
    this.#play(to);
  }

  seek(seconds) {
    if (this.active) this.moveTo(this.active.at + seconds);
  }

  moveTo(seconds) {
    if (!this.active) return;
    this.#look();
    this.active.jump();
    this.active.at = Math.min(Math.max(0, seconds), Math.max(0, this.active.duration - 0.05));
    if (this.#hasSound) this.#audio.currentTime = this.active.at;
    this.#changed();
  }

  replay() {
    this.moveTo(0);
    this.resume();
  }

  /** Try a clip again that could not be played. */
  retry(track) {
    track.broken = false;
    this.#tour = null;
    this.active = null;
    this.#play(track, { fresh: true });
  }

  /** Make a clip the one that keys and the slider mean; its sound is fetched when it plays. */
  #take(track) {
    if (this.active === track) return;
    this.#look();
    this.#audio.pause();
    this.active?.jump();
    this.active = track;
    track.jump();
    this.#audio.dataset.address = "";
  }

  get #hasSound() {
    return this.active !== null && this.#audio.dataset.address === this.active.item.url;
  }

  #fetchSound(track, fresh) {
    if (this.#hasSound) return;
    this.#audio.src = fresh ? track.item.url : this.#library.source(track.item.url);
    this.#audio.dataset.address = track.item.url;
    if (track.at > 0) this.#audio.currentTime = track.at;
  }

  async #play(track, { anew = false, fresh = false } = {}) {
    this.#take(track);
    this.#fetchSound(track, fresh);
    if (anew || this.#audio.ended) this.moveTo(0);
    try {
      await this.#audio.play();
    } catch (error) {
      if (error.name === "NotAllowedError") this.dispatchEvent(new CustomEvent("blocked", { detail: track }));
    }
  }

  #began() {
    this.dispatchEvent(new CustomEvent("play", { detail: this.active }));
    cancelAnimationFrame(this.#frame);
    const step = () => {
      this.#look();
      if (this.playing) this.#frame = requestAnimationFrame(step);
    };
    this.#frame = requestAnimationFrame(step);
  }

  /** Count what was heard; go on where a tour has played enough of a clip. */
  #look() {
    const track = this.active;
    if (!this.#hasSound) return;
    track.listen(this.#audio);
    if (Number.isFinite(this.#audio.duration)) track.duration = this.#audio.duration;
    if (this.#audio.readyState > 0 && !this.#audio.seeking) track.at = this.#audio.currentTime;
    this.#changed();
    if (!this.#tour || this.playing !== track || this.#tour.tracks[0] !== track) return;
    const enough = Math.max(SHORTEST_MS, track.neededMs) + A_BIT_MS;
    if (track.isDone && track.at * 1000 >= enough) this.#goOn();
  }

  #ended() {
    this.active.at = 0;
    if (this.#tour) this.#goOn();
    else this.#changed();
  }

  #goOn() {
    const [over, next] = this.#tour.tracks.splice(0, 1).concat(this.#tour.tracks);
    if (next) {
      this.#play(next, { anew: true });
    } else {
      this.#tour = null;
      this.pause();
      over.at = 0;
      this.dispatchEvent(new Event("toured"));
    }
    this.#changed();
  }

  #fail() {
    const track = this.active;
    if (!this.#hasSound) return;
    if (this.#audio.src !== new URL(track.item.url, location.href).href) {
      this.active = null; // a clip in memory was let go
      this.#play(track, { fresh: true });
      return;
    }
    track.broken = true;
    if (this.#tour?.tracks[0] === track) this.#goOn();
    this.#changed();
  }

  #changed() {
    this.dispatchEvent(new Event("change"));
  }
}
