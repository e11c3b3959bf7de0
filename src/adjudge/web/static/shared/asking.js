/** One question after another, whatever it asks: what is shown, what comes after it, what is sent.
 *
 * `shown` is the question on the page and `ahead` the one after it, both leased. Sending puts the answer into the outbox
 * and shows `ahead` at once; the server's reply then brings the next `ahead`. Whatever the server says about questions
 * that were settled here already is passed over.
 *
 * A page says how it looks by its `view`: `show(question, draft)` puts a question on the page, `prepare(ahead)` fetches the
 * next one's clips and resolves to whether they are here, `pause()` stops the sound, `draft()` is what was given so far,
 * `given(body)` the draft of something sent, `mine(waiting)` how many this person answered, `progress()` draws it. It may
 * also have `take(desk)` for what else the server says, `alive(reply)` for what it says to a heartbeat, `carry(question,
 * body, next)` for what one question tells about the next, `gone(question, before, desk)` for words about a question that
 * is not in one's hands any more, and `ended(desk)`, which shows how somebody's part ended and says whether it did.
 */

import { call, leave } from "./api.js";
import { identityOf } from "./drafts.js";
import { Outbox } from "./outbox.js";
import { $, announce, rest, showOnly, showWaiting, tell, untell } from "./page.js";
import { Tabs } from "./tabs.js";
import { say } from "./words.js";

const LOOK_AGAIN_MS = { wait: 5000, paused: 15_000, draft: 15_000, offline: 5000, nothing_left: 30_000, sent: 1500 };
const BREAK_MS = 25 * 60_000;
const HEARTBEAT_MS = 30_000;
const DRAFT_MS = 2000;

export class Asking {
  desk = null; // what the server said last
  shown = null;
  ahead = null;
  unreachable = false;
  #address;
  #next;
  #words;
  #drafts;
  #view;
  #settled = new Set(); // leases answered or skipped in this window
  #stays; // whether questions are kept for who leaves the page
  #number = 0; // of questions shown since the page was loaded
  #since = 0; // when the question was shown, or the window was looked at again
  #tookMs = 0; // before that
  #listeningMs = 0; // since the last break
  #timer = null;

  /** `address` is where the API is, `next` how it calls the question after the one shown, `words` the page's own for resting;
   * `stays` where a question is not handed back when its page closes. */
  constructor({ owner, address, next, words = "rest", drafts, view, stays = false }) {
    this.#address = address;
    this.#stays = stays;
    this.#next = next;
    this.#words = words;
    this.#drafts = drafts;
    this.#view = view;
    this.outbox = new Outbox(owner);
    this.tabs = new Tabs(owner);
    this.outbox.addEventListener("acknowledged", ({ detail: { reply } }) => this.#acknowledged(reply));
    this.outbox.addEventListener("refused", ({ detail }) => this.#refused(detail));
    this.outbox.addEventListener("change", () => this.#waitingChanged());
    this.tabs.addEventListener("settled", ({ detail: lease }) => this.#settledElsewhere(lease));
  }

  /* ---------- what there is to do ---------- */

  /** Ask the server. */
  async refresh() {
    clearTimeout(this.#timer);
    try {
      const desk = await call("GET", this.#address);
      this.unreachable = false;
      this.#accept(desk);
      if (!this.outbox.trouble) this.outbox.send(); // also what a window left behind that was closed
    } catch (failure) {
      this.#unreached(failure);
    }
    showWaiting(this.outbox, this.unreachable);
  }

  #unreached(failure) {
    if (failure.passes) {
      this.unreachable = true;
      if (!this.shown) this.#rest("offline");
      this.#lookAgain("offline");
      return;
    }
    this.#view.pause();
    untell(); // the reason is said in its place
    this.shown = null;
    if (failure.status === 401) rest("signed_out");
    else rest("gone", { message: failure.message });
  }

  #lookAgain(why) {
    clearTimeout(this.#timer);
    if (why in LOOK_AGAIN_MS) this.#timer = setTimeout(() => this.refresh(), LOOK_AGAIN_MS[why]);
  }

  #isOpen(question) {
    return Boolean(question) && !this.#settled.has(question.lease) && !this.outbox.has(question.lease);
  }

  /** Take the server's word for what there is to do, without disturbing a question that is being answered. */
  #accept(desk) {
    const before = this.desk;
    this.desk = desk;
    this.#view.take?.(desk);
    const open = [desk.question, desk[this.#next]].filter((one) => this.#isOpen(one));
    const same = this.shown && open.find((one) => one.lease === this.shown.lease || identityOf(one) === identityOf(this.shown));
    if (same) {
      this.shown = { ...this.shown, ...same };
      this.ahead = open.find((one) => one !== same) ?? null;
      this.#prepare();
    } else {
      const why = this.shown && open.length ? this.#view.gone?.(this.shown, before, desk) : null;
      if (why || (this.shown && open.length && $("told").hidden)) tell(why ?? say("judge.changed"), { kind: true });
      [this.shown = null, this.ahead = null] = open;
      this.#show();
    }
    this.#view.progress();
  }

  /** Put the question on the page, with what was given before a reload. */
  #show() {
    if (!this.shown) return this.#showNothing();
    const draft = this.#drafts.recall(this.shown);
    this.#tookMs = draft?.tookMs ?? 0;
    this.#since = performance.now();
    this.#number += 1;
    $("question").dataset.number = String(this.#number);
    showOnly("question");
    this.#view.show(this.shown, draft);
    this.#prepare();
    if (!document.querySelector("dialog[open]")) {
      $("heading").focus({ preventScroll: true });
      scrollTo({ top: 0 });
    }
    announce(`${say("judge.new")} ${$("heading").textContent}`);
    return undefined;
  }

  /** Fetch the next question's clips; data-ahead says when the page could go on without a connection. */
  async #prepare() {
    const { ahead } = this;
    $("question").dataset.ahead = "";
    const ready = await this.#view.prepare(ahead);
    if (ahead === this.ahead && ready) $("question").dataset.ahead = "ready";
  }

  #showNothing() {
    this.#view.pause();
    const why = this.desk?.why;
    if (this.#view.ended?.(this.desk)) return this.#drafts.keepOnly([]);
    if (why && why !== "ended") this.#rest(why);
    else if (this.unreachable || this.outbox.trouble || !navigator.onLine) this.#rest("offline");
    else showOnly("loading");
    return this.#lookAgain(why ?? (this.unreachable ? "offline" : "sent")); // the reply to what was sent, here or elsewhere, is due
  }

  #rest(why) {
    rest(why, { mine: this.mine, words: this.#words });
  }

  /* ---------- answering ---------- */

  /** Milliseconds that somebody looked at this question. */
  get takenMs() {
    const visible = document.hidden ? 0 : performance.now() - this.#since;
    return Math.round(this.#tookMs + visible);
  }

  keepDraft() {
    if (this.shown) this.#drafts.keep(this.shown, { ...this.#view.draft(), tookMs: this.takenMs });
  }

  /** Keep what was done in the outbox and show the next question at once. `what` is "answers" or "skips". */
  goOn(what, body, words) {
    this.#view.pause();
    untell();
    const question = this.shown;
    const sent = { lease: question.lease, took_ms: this.takenMs, ...body };
    this.#listeningMs += this.takenMs;
    this.#settled.add(question.lease);
    this.#drafts.forget(question);
    this.outbox.put(`${this.#address}/${what}`, sent, { question });
    this.tabs.settled(question.lease);
    announce(words);
    this.shown = this.#isOpen(this.ahead) ? this.ahead : null;
    this.ahead = null;
    if (this.shown) this.#view.carry?.(question, sent, this.shown);
    if (this.desk) this.desk.why = null;
    this.#show();
    this.#view.progress();
    this.#suggestBreak();
  }

  /** Put what the server answers to a request in the place of the question on the page; its draft is kept.
   * `without` is how the page rests where there is nothing left. */
  async turn(what, body, { without = null } = {}) {
    const desk = await call("POST", `${this.#address}/${what}`, body);
    if (desk.why === "nothing_left") desk.why = without ?? desk.why; // nothing but what was just given back
    this.#view.pause();
    this.keepDraft();
    this.shown = null;
    this.#accept(desk);
  }

  /** Give the question on the page back and go on with what comes then. */
  async handBack() {
    const { lease, corrects = null } = this.shown;
    await this.turn("hand-back", { lease }, { without: corrects === null ? "handed_back" : null });
    this.tabs.settled(lease);
  }

  #suggestBreak() {
    if (this.#listeningMs < BREAK_MS) return;
    this.#listeningMs = 0;
    tell(say("break"), { kind: true });
  }

  #acknowledged(reply) {
    this.unreachable = false;
    if (reply?.desk) this.#accept(reply.desk);
  }

  #refused({ entry, failure }) {
    tell(say("refused", { message: failure.message }));
    const { question } = entry.extra;
    if (question && failure.status === 422) {
      this.#settled.delete(question.lease); // it can be answered again, with what was given
      this.#drafts.keep(question, this.#view.given(entry.body));
    }
    this.refresh();
  }

  #waitingChanged() {
    showWaiting(this.outbox, this.unreachable);
    if (this.desk) this.#view.progress();
    if (!this.shown && this.desk?.why === "ended") this.#showNothing();
  }

  /** How many answers wait here. */
  get waiting() {
    return this.outbox.entries.filter((entry) => entry.path.endsWith("/answers")).length;
  }

  /** How many this person answered, with those that wait here. */
  get mine() {
    return this.#view.mine(this.waiting);
  }

  /* ---------- other windows, coming and going ---------- */

  #settledElsewhere(lease) {
    this.#settled.add(lease);
    if (this.shown?.lease !== lease) return;
    this.#view.pause();
    this.#drafts.forget(this.shown);
    this.shown = null;
    this.refresh().then(() => this.shown && tell(say("judge.elsewhere"), { kind: true }));
  }

  async #beat() {
    if (document.hidden || (!this.shown && !this.ahead)) return;
    this.tabs.present();
    try {
      const reply = await call("POST", `${this.#address}/heartbeat`);
      const { expires_at: until } = reply;
      this.#view.alive?.(reply);
      if (until === null || this.unreachable) this.refresh(); // given back meanwhile: take it again, or another
    } catch (failure) {
      if (failure.locked) this.#unreached(failure);
    }
  }

  #looked() {
    if (document.hidden) {
      this.#tookMs += performance.now() - this.#since;
      this.keepDraft();
    } else {
      this.#since = performance.now();
      this.refresh();
    }
  }

  /** Begin to ask, and stay in touch with the server while the page is open. */
  begin() {
    document.addEventListener("visibilitychange", () => this.#looked());
    addEventListener("pagehide", () => {
      this.keepDraft();
      if (this.tabs.depart() && !this.#stays) leave(this.#address);
    });
    addEventListener("pageshow", (event) => {
      this.tabs.present();
      if (event.persisted) this.refresh();
    });
    addEventListener("beforeunload", (event) => {
      if (this.outbox.size && this.outbox.trouble !== "locked") event.preventDefault();
    });
    addEventListener("online", () => this.unreachable && this.refresh());
    this.tabs.present();
    setInterval(() => this.#beat(), HEARTBEAT_MS);
    setTimeout(() => this.#beat(), 4000); // the goodbye of a page before a reload may arrive after this page's hello
    setInterval(() => this.keepDraft(), DRAFT_MS);
    this.refresh().then(() => this.outbox.hurry());
  }
}
