/** A question of the ranking page: a query, its candidates, and the order in which somebody puts them. How one question
 * follows another is in ../shared/asking.js. */

import { newKey } from "../shared/api.js";
import { Asking } from "../shared/asking.js";
import { Deck } from "../shared/deck.js";
import { Drafts, identityOf } from "../shared/drafts.js";
import { Library } from "../shared/library.js";
import { $, announce, openDialog, refuse, showComment, showMissing, showProgress, tell, untell, write } from "../shared/page.js";
import { count, number, say } from "../shared/words.js";
import { Board } from "./board.js";
import { Card } from "./cards.js";
import { Shelf, reconcile } from "./history.js";
import { alone, beside, difference, down, ranked, same, tie, to, toTied, up, without } from "./order.js";
import { Saving } from "./saving.js";

const ADDRESS = "/api/ranking";
const AS_THE_SERVER = { version: -1, dirty: false, sent: [] }; // whatever it has is gone on with
const TOLD = 5; // places of each of two orders between which somebody chooses, from where they differ
const AT_ONCE = 4; // drawings and clips fetched at the same time; saving must not wait behind fifty of them

const { owner } = $("question").dataset;
const library = new Library();
export const deck = new Deck($("sound"), library);
export const board = new Board();
const shelf = new Shelf(owner);
let query = null;
let history = null;
let lastDrawn = null; // the card that played when it was drawn last
let conflict = null; // { version, groups } of the server, while somebody must choose
let state = "open"; // of the campaign, as it was told last

export const rules = () => asking.desk?.rules ?? { ties: true, rank_all: false, least_ranked: 1, listen_seconds: 0 };
const groups = () => board.groups;
const cards = () => [...board.cards.values()];

/* ---------- on the page ---------- */

const view = {
  show(question, draft) {
    conflict = null;
    $("conflict").close();
    const { listen_seconds: listenSeconds } = rules();
    query = new Card(question.query, { n: 0, listenSeconds, deck });
    const all = question.candidates.map((item, before) => new Card(item, { n: before + 1, listenSeconds, deck }));
    for (const card of [query, ...all]) {
      card.heardMs = draft?.heard?.[card.id ?? "query"] ?? 0;
      card.draw();
    }
    deck.load([query, ...all]);
    board.fill(all);
    $("query-box").replaceChildren(query.element);
    $("board").classList.toggle("has-lines", all.every((card) => card.item.kind === "audio"));
    showComment(draft?.comment);
    $("skip-open").hidden = question.corrects !== null;
    $("leave-open").hidden = question.corrects === null;
    this.resume(question);
    measure();
  },

  /** Go on where somebody was: with what this browser kept, or with what the server has. */
  resume(question) {
    const found = reconcile(shelf.recall(question), question.arrangement);
    history = found.history;
    board.draw(history.groups, { glide: false });
    saving.begin({ version: found.version, dirty: found.dirty && !found.conflict, sent: found.sent });
    if (found.conflict) contradict({ version: found.version, groups: found.conflict });
    redraw();
  },

  /** The server told about the query on the page again: somebody may have gone on elsewhere, with nothing waiting here. */
  take({ question, campaign }) {
    tellState(campaign.state, question);
    if (!asking.shown || !question || identityOf(question) !== identityOf(asking.shown)) return;
    const { version, groups: theirs } = question.arrangement;
    const newer = version > saving.version;
    if (conflict || !(newer || question.lease !== asking.shown.lease)) return;
    if (saving.dirty) saving.hurry();
    else if (newer) adopt(theirs, version);
  },

  alive: (reply) => tellState(reply.state),

  /** Why the query on the page is not in one's hands any more: it was sent from another device, if that is known. */
  gone({ corrects }, before, { done }) {
    const at = (all) => all.find((one) => one.answer === corrects)?.at;
    const sent = corrects === null ? done.length > before.done.length : at(done) !== at(before.done);
    return sent ? say("rank.sent_elsewhere") : null;
  },

  /** Everything of this question, those in sight first; `data-here` says when it could go on without a connection. */
  async prepare() {
    const own = [query, ...board.cardsOf("list"), ...board.cardsOf("tray")];
    const heard = own.filter((card) => card.isAudio);
    $("question").dataset.here = "";
    library.keepOnly(heard.map((card) => card.item.url));
    const seen = await inTurns(own, (card) => card.engrave());
    measure();
    const here = await inTurns(heard, (card) => own[0] === query && library.fetch(card.item.url));
    if (own[0] === query && [...seen, ...here].every(Boolean)) $("question").dataset.here = "ready";
    return false;
  },

  pause: () => deck.pause(),

  draft: () => ({
    comment: $("comment").value,
    heard: Object.fromEntries([query, ...cards()].filter((card) => card.heardMs > 0).map((card) => [card.id ?? "query", Math.floor(card.heardMs)])),
  }),

  given: ({ comment, heard }) => ({ comment: comment ?? "", heard: { query: heard.query_ms, ...heard.candidates_ms } }),

  mine: (waiting) => (asking.desk?.progress.answered ?? 0) + waiting,

  /** Which query this is of how many, or that a finished one is open again. */
  progress() {
    const { answered, of } = asking.desk.progress;
    const n = Math.min(of, answered + asking.waiting + 1);
    const corrects = (asking.shown?.corrects ?? null) !== null;
    const words = corrects ? say("rank.corrects") : say("rank.progress", { n: number(n), of: number(of) });
    showProgress(words, of > 0 ? (answered + asking.waiting) / of : 0, { shown: Boolean(asking.shown) });
  },
};

export const asking = new Asking({
  owner,
  address: ADDRESS,
  next: "next",
  words: "rank.rest",
  drafts: new Drafts(localStorage, `adjudge.draft.${owner}.`),
  view,
  stays: true,
});

/** Do something for each, a few at a time. */
async function inTurns(all, act) {
  const results = [];
  const waiting = [...all.entries()];
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) results[next[0]] = await act(next[1]);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return results;
}

/** How much of the page what stays in sight covers: cards are scrolled to below it. */
export function measure() {
  document.documentElement.style.setProperty("--covered", `${$("rank-top").offsetHeight}px`);
}

/** What changes while something plays: the card that plays, and the one that did. */
export function redraw() {
  if (!asking.shown) return;
  const active = deck.active;
  if (lastDrawn && lastDrawn !== active) lastDrawn.draw();
  active?.draw();
  lastDrawn = active;
  drawMissing();
}

deck.addEventListener("change", redraw);
deck.addEventListener("play", ({ detail: card }) => announce(say("judge.playing", { name: card.name })));

/* ---------- moving ---------- */

/** Show another order, keep it, send it. Focus follows a card within its side; else it goes to the next one there. */
function go(next, card, { follow = true } = {}) {
  if (same(next, groups()) && next.flat().length === groups().flat().length) {
    announce(board.wordsOf(card, "rank.stays"));
    return;
  }
  const had = board.focused === card;
  const side = board.sideOf(card);
  const neighbour = board.neighbour(card);
  history.push(next, card.id);
  board.draw(next, { moved: card });
  changed();
  announce(board.wordsOf(card));
  if (document.querySelector("dialog[open]")) board.reveal(card);
  else if (follow) board.focusOn(card);
  else if (had) board.focusOn(side === board.sideOf(card) || !neighbour ? card : neighbour);
}

function changed() {
  saving.changed();
  drawMissing();
}

export const moves = {
  up: (card) => go(up(groups(), card.id), card, { follow: false }),
  down: (card) => go(down(groups(), card.id), card, { follow: false }),
  first: (card) => go(alone(groups(), card.id, 0), card, { follow: false }),
  last: (card) => go(alone(groups(), card.id, groups().length), card, { follow: false }),
  tie: (card) => rules().ties && go(tie(groups(), card.id), card, { follow: false }),
  unrank: (card) => go(without(groups(), card.id), card, { follow: false }),
  place(card, n, tied = false) {
    go(tied && rules().ties ? toTied(groups(), card.id, n) : to(groups(), card.id, n), card, { follow: false });
  },
  drop(card, target) {
    if (target.tray) return go(without(groups(), card.id), card);
    return go(target.beside === undefined ? alone(groups(), card.id, target.before) : beside(groups(), card.id, target.beside), card);
  },
};

function turnBack(how, words) {
  const can = how === "undo" ? history.canUndo : history.canRedo;
  if (!asking.shown || !can) return;
  const card = board.cards.get(history[how]()) ?? null;
  board.draw(history.groups, { moved: card });
  changed();
  announce(`${words} ${card ? board.wordsOf(card) : ""}`.trim());
  if (card) board.reveal(card);
}

export const undo = () => turnBack("undo", say("rank.undone"));
export const redo = () => turnBack("redo", say("rank.redone"));

/* ---------- saving ---------- */

export const saving = new Saving({ address: ADDRESS, lease: () => asking.shown?.lease ?? null, groups });
const STATES = { offline: "rank.unsaved.offline", server: "rank.unsaved.server", conflict: "rank.unsaved.conflict", kept: "rank.unsaved.kept" };

saving.addEventListener("change", () => {
  if (!asking.shown) return;
  const { version, dirty, sent } = saving;
  shelf.keep(asking.shown, history, { version, dirty, sent });
  const words = saving.state === "saved" ? say(history.canUndo || ranked(groups()) ? "rank.saved" : "rank.saved.nothing") : say(STATES[saving.state] ?? "rank.saving");
  write($("saved"), words);
  $("saved").dataset.state = saving.state;
  $("undo").setAttribute("aria-disabled", String(!history.canUndo));
  $("redo").setAttribute("aria-disabled", String(!history.canRedo));
});
saving.addEventListener("conflict", ({ detail }) => contradict(detail));
saving.addEventListener("stored", ({ detail }) => tellState(detail.state));
saving.addEventListener("lost", () => asking.refresh());

/** The campaign may be paused or closed while a query is in one's hands: that is said once, and until it goes on. */
function tellState(now, question = asking.shown) {
  if (now === state || !question) return;
  state = now;
  if (now === "open") untell();
  else tell(say(now === "paused" ? "rank.paused" : "rank.closed"), { kind: true });
}

/** Take over what somebody did elsewhere, as one step that can be undone. */
function adopt(theirs, version, { told = true } = {}) {
  if (!same(theirs, groups())) {
    history.push(theirs);
    board.draw(theirs);
    if (told) tell(say("rank.elsewhere"), { kind: true });
  }
  saving.rebase(version, { dirty: false });
  drawMissing();
}

/** A few places of an order by the numbers of its cards, from one of them on: 3. № 7 = № 2 · 4. № 9 … */
function beginning(order, from) {
  const cardsOf = (group) => group.map((id) => `№ ${number(board.cards.get(id)?.n ?? 0)}`).join(" = ");
  const told = order.slice(from, from + TOLD).map((group, place) => `${number(from + place + 1)}. ${cardsOf(group)}`);
  return told.join(" · ") + (order.length > from + TOLD ? " …" : "");
}

function contradict(theirs) {
  conflict = theirs;
  saving.state = "conflict";
  saving.dirty = true;
  saving.dispatchEvent(new Event("change"));
  for (const dialog of document.querySelectorAll("dialog[open]")) dialog.close();
  const told = (order) => say("rank.conflict.order", { n: number(ranked(order)), of: number(order.length) });
  const from = difference(theirs.groups, groups());
  for (const [whose, order] of Object.entries({ theirs: theirs.groups, ours: groups() })) {
    write($(`conflict-${whose}`), told(order));
    write($(`conflict-${whose}-order`), beginning(order, from));
  }
  openDialog("conflict");
}

/** The other order goes into the history: choosing loses nothing. */
export function settle(which) {
  const { version, groups: theirs } = conflict;
  const ours = groups();
  conflict = null;
  $("conflict").close();
  history.push(theirs);
  if (which === "ours") history.push(ours);
  board.draw(history.groups);
  saving.rebase(version, { dirty: which === "ours" });
  announce(say(which === "ours" ? "rank.conflict.kept" : "rank.conflict.taken"));
  drawMissing();
}

/* ---------- sending ---------- */

/** What must still be heard: the query, and whatever has a place; nothing of an order that was sent before. */
function unheard() {
  if (asking.shown.corrects !== null) return [];
  return [query, ...groups().flat().map((id) => board.cards.get(id))].filter((card) => !card.isDone);
}

/** What an answer lacks, in words. */
function missing() {
  const { rank_all: all, least_ranked: least } = rules();
  const n = ranked(groups());
  const left = board.cards.size - n;
  const wanted = Math.min(least, board.cards.size) - n;
  const quiet = unheard().length;
  return [
    ...(all && left ? [count("rank.missing.all", left)] : []),
    ...(!all && wanted > 0 ? [count("rank.missing.least", wanted)] : []),
    ...(quiet ? [count("rank.missing.heard", quiet)] : []),
  ];
}

function drawMissing() {
  if (!asking.shown) return;
  const left = board.cards.size - ranked(groups());
  showMissing(missing(), left ? count("rank.ready", left) : undefined);
}

export function send() {
  if (!asking.shown) return;
  const lacking = missing();
  if (lacking.length) return point(lacking);
  const left = board.cards.size - ranked(groups());
  if (!left) return reallySend();
  write($("left-words"), count("rank.left", left, { of: number(board.cards.size) }));
  return openDialog("left");
}

/** Refuse to send, and point to what is not heard yet. */
function point(lacking) {
  refuse(lacking);
  const silent = unheard()[0];
  if (!silent) return;
  silent.nod();
  if (silent !== query) board.reveal(silent);
}

export function reallySend() {
  $("left").close();
  if (!asking.shown || missing().length) return;
  const heardOf = (card) => Math.floor(card.heardMs);
  const candidates = Object.fromEntries(cards().filter(heardOf).map((card) => [card.id, heardOf(card)]));
  const comment = $("comment").value.trim();
  const heard = { query_ms: heardOf(query), candidates_ms: candidates };
  shelf.keep(asking.shown, history, { version: saving.version, dirty: false, sent: [] });
  asking.goOn("answers", { key: newKey(), groups: groups(), heard, ...(comment ? { comment } : {}) }, say("judge.sent"));
}

export function skip(reason, comment) {
  if (!asking.shown) return;
  const body = { key: newKey(), reason, took_ms: undefined, ...(comment ? { comment } : {}) };
  asking.goOn("skips", body, say("judge.skipped"));
}

/** Give a query back with what was done so far; a finished one that was opened again stays as it was sent. */
export async function handBack() {
  const { shown } = asking;
  if (!shown) return;
  const own = history;
  $("skip").close();
  untell();
  try {
    if (shown.corrects === null) await saving.flush();
    await asking.handBack();
    if (shown.corrects !== null) shelf.keep(shown, own, AS_THE_SERVER); // also what was not saved yet
    announce(say(shown.corrects === null ? "rank.handed" : "rank.left_as_sent"));
  } catch (failure) {
    tell(failure.passes ? say("rank.unreachable") : failure.message);
  }
}

