/** One question after another: what is shown, what is heard and graded, what is sent.
 *
 * `shown` is the question on the page and `ahead` the one after it, both leased. Sending puts the answer into the outbox
 * and shows `ahead` at once; the server's reply then brings the next `ahead`. Whatever the server says about questions
 * that were settled here already is passed over.
 */

import { call, newKey } from "./api.js";
import * as drafts from "./drafts.js";
import { Outbox } from "./outbox.js";
import { $, announce, rest, showOnly, showProgress, showWaiting, tell, untell, writeAll } from "./page.js";
import { Deck } from "./player.js";
import { Fields } from "./scales.js";
import { Tabs } from "./tabs.js";
import { number, say } from "./words.js";

const LOOK_AGAIN_MS = { wait: 5000, paused: 15_000, draft: 15_000, offline: 5000, nothing_left: 30_000 };
const BREAK_MS = 25 * 60_000;
const BY_ITSELF = "adjudge.by-itself";

/** Whether a new question starts playing by itself; people may not like it. */
export const playsByItself = () => localStorage.getItem(BY_ITSELF) !== "no";
export const playByItself = (yes) => localStorage.setItem(BY_ITSELF, yes ? "yes" : "no");

const owner = document.body.querySelector("#question").dataset.owner;
export const deck = new Deck($("question"));
export const outbox = new Outbox(owner);
export const tabs = new Tabs(owner);
export const settled = new Set(); // leases answered or skipped in this window
export const page = {
  desk: null, // what the server said last
  shown: null,
  ahead: null,
  number: 0, // of questions shown since the page was loaded
  fields: null,
  scales: "", // those that the fields are for
  asked: false, // whether grades that hardly go together were asked about
  since: 0, // when the question was shown, or the window was looked at again
  tookMs: 0, // before that
  listeningMs: 0, // since the last break
  unreachable: false,
  timer: null,
};

/* ---------- questions ---------- */

/** Ask the server what there is to do. */
export async function refresh() {
  clearTimeout(page.timer);
  try {
    const desk = await call("GET", "/api/judging");
    page.unreachable = false;
    accept(desk);
  } catch (failure) {
    unreachable(failure);
  }
  redrawWaiting();
}

export function unreachable(failure) {
  if (failure.passes) {
    page.unreachable = true;
    if (!page.shown) rest("offline", { mine: mine() });
    lookAgain("offline");
  } else {
    deck.pause();
    untell(); // the reason is said in its place
    page.shown = null;
    if (failure.status === 401) rest("signed_out");
    else rest("gone", { message: failure.message });
  }
}

function lookAgain(why) {
  clearTimeout(page.timer);
  if (why in LOOK_AGAIN_MS) page.timer = setTimeout(refresh, LOOK_AGAIN_MS[why]);
}

const sameItem = (one, other) => one.url === other.url && one.text === other.text;
const isOpen = (question) => question && !settled.has(question.lease) && !outbox.has(question.lease);

/** Take the server's word for what there is to do, without disturbing a question that is being answered. */
function accept(desk) {
  page.desk = desk;
  const scales = JSON.stringify(desk.scales);
  if (scales !== page.scales) rebuildScales(desk, scales);
  const open = [desk.question, desk.ahead].filter(isOpen);
  const same = page.shown && open.find((one) => one.lease === page.shown.lease || drafts.pairOf(one) === drafts.pairOf(page.shown));
  if (same) {
    page.shown = { ...page.shown, ...same };
    page.ahead = open.find((one) => one !== same) ?? null;
    prepare();
  } else {
    if (page.shown && open.length && $("told").hidden) tell(say("judge.changed"), { kind: true });
    [page.shown = null, page.ahead = null] = open;
    show();
  }
  redrawProgress();
}

function rebuildScales(desk, scales) {
  page.scales = scales;
  page.fields = new Fields($("scales"), desk.scales, "now", () => graded());
}

/** Put the question on the page: its clips, what was given before a reload, the focus, the sound. */
function show() {
  untellDoubt();
  page.asked = false;
  if (!page.shown) return showNothing();
  const draft = drafts.recall(page.shown);
  deck.load(page.shown);
  page.fields.grades = draft?.grades ?? {};
  $("comment").value = draft?.comment ?? "";
  $("comment-box").open = Boolean(draft?.comment);
  restoreHeard(draft);
  page.tookMs = draft?.tookMs ?? 0;
  page.since = performance.now();
  page.number += 1;
  $("question").dataset.number = String(page.number);
  $("switch").hidden = !(deck.clips.query.isAudio && deck.clips.candidate.isAudio);
  showOnly("question");
  prepare();
  redraw();
  if (!document.querySelector("dialog[open]")) {
    $("heading").focus({ preventScroll: true });
    scrollTo({ top: 0 });
  }
  announce(`${say("judge.new")} ${say("judge.heading")}`);
  begin();
  return undefined;
}

/** Fetch the next question's clips; data-ahead says when the page could go on without a connection. */
async function prepare() {
  const { ahead } = page;
  $("question").dataset.ahead = "";
  const ready = await deck.prepare(ahead);
  if (ahead === page.ahead && ready) $("question").dataset.ahead = "ready";
}

function restoreHeard(draft) {
  for (const [side, clip] of Object.entries(deck.clips)) {
    clip.heardMs = draft?.heard?.[side] ?? 0;
    clip.looked = draft?.looked?.[side] ?? false;
  }
}

function showNothing() {
  deck.pause();
  const why = page.desk?.why;
  if (why) rest(why, { mine: mine() });
  else if (page.unreachable || outbox.trouble || !navigator.onLine) rest("offline", { mine: mine() });
  else showOnly("loading");
  lookAgain(why ?? "offline");
}

/** Start the sound of a new question; the query first, unless it is known. */
function begin() {
  if (!playsByItself() || document.querySelector("dialog[open]") || document.hidden) return;
  const known = page.shown.heard_query && deck.clips.candidate.isAudio;
  deck.play(known || !deck.clips.query.isAudio ? "candidate" : "query");
}

/* ---------- listening and grading ---------- */

/** Milliseconds of a clip that must be heard before an answer counts. */
function neededMs(side) {
  const clip = deck.clips[side];
  if (!clip.isAudio || (side === "query" && page.shown.heard_query)) return 0;
  const seconds = clip.item.seconds ?? clip.duration;
  const asked = page.desk.listen_seconds;
  return 1000 * (seconds > 0 ? Math.min(asked, 0.9 * seconds) : asked);
}

const lackingMs = (side) => Math.max(0, neededMs(side) - Math.floor(deck.clips[side].heardMs));

/** What is still missing before an answer can be sent, in words; most telling first. */
function missing() {
  const words = [];
  for (const [side, clip] of Object.entries(deck.clips)) {
    const seconds = Math.ceil(lackingMs(side) / 1000);
    if (seconds > 0) words.push(say(`missing.${side}`, { seconds: number(seconds) }));
    const unseen = clip.item.kind === "url" && !clip.looked && !(side === "query" && page.shown.heard_query);
    if (unseen) words.push(say(`missing.look.${side}`));
  }
  return [...words, ...page.fields.missing];
}

export function redraw() {
  if (!page.shown) return;
  const words = missing();
  writeAll($("missing"), words.length ? words : [say("missing.nothing")]);
  $("missing").classList.toggle("is-ready", !words.length);
  $("send").setAttribute("aria-disabled", String(words.length > 0));
  for (const [side, clip] of Object.entries(deck.clips)) clip.showHeard(lackingMs(side) === 0, neededMs(side));
}

function graded() {
  if (!page.fields.doubt) untellDoubt();
  keepDraft();
  redraw();
}

function takenMs() {
  const visible = document.hidden ? 0 : performance.now() - page.since;
  return Math.round(page.tookMs + visible);
}

export function keepDraft() {
  if (!page.shown) return;
  const { query, candidate } = deck.clips;
  drafts.keep(page.shown, {
    grades: page.fields.grades,
    comment: $("comment").value,
    heard: { query: query.heardMs, candidate: candidate.heardMs },
    looked: { query: query.looked, candidate: candidate.looked },
    tookMs: takenMs(),
  });
}

/* ---------- sending ---------- */

export function send() {
  if (!page.shown) return;
  const words = missing();
  if (words.length) return refuse(words);
  if (page.fields.doubt && !page.asked) return askDoubt(page.fields.doubt);
  const { query, candidate } = deck.clips;
  const heard = { query_ms: Math.floor(query.heardMs), candidate_ms: Math.floor(candidate.heardMs) };
  const body = { lease: page.shown.lease, key: newKey(), grades: page.fields.grades, heard, took_ms: takenMs() };
  const comment = $("comment").value.trim();
  if (comment) body.comment = comment;
  goOn("/api/judging/answers", body, say("judge.sent"));
}

function refuse(words) {
  announce(words.join(". "));
  const line = $("missing");
  line.classList.remove("is-asking");
  requestAnimationFrame(() => line.classList.add("is-asking"));
}

/** Ask once whether two grades that hardly go together are meant; Enter keeps them. */
function askDoubt({ coarse, fine }) {
  page.asked = true;
  $("doubt-words").textContent = say("doubt", { level: coarse.words, value: fine.words });
  $("doubt").hidden = false;
  $("doubt").scrollIntoView({ block: "nearest" });
}

export function untellDoubt() {
  $("doubt").hidden = true;
}

/** Keep what was done in the outbox and show the next question at once. */
function goOn(path, body, words) {
  deck.pause();
  untell();
  const question = page.shown;
  page.listeningMs += takenMs();
  settled.add(question.lease);
  drafts.forget(question);
  outbox.put(path, body, { question });
  tabs.settled(question.lease);
  announce(words);
  page.shown = isOpen(page.ahead) ? page.ahead : null;
  page.ahead = null;
  if (page.shown && body.grades && sameItem(page.shown.query, question.query)) page.shown.heard_query = true;
  if (page.desk) page.desk.why = null;
  show();
  redrawProgress();
  suggestBreak();
}

function suggestBreak() {
  if (page.listeningMs < BREAK_MS) return;
  page.listeningMs = 0;
  tell(say("break"), { kind: true });
}

export function skip(reason, comment) {
  if (!page.shown) return;
  const { query, candidate } = deck.clips;
  const heard = { query_ms: Math.floor(query.heardMs), candidate_ms: Math.floor(candidate.heardMs) };
  const body = { lease: page.shown.lease, key: newKey(), reason, heard, took_ms: takenMs() };
  if (comment) body.comment = comment;
  goOn("/api/judging/skips", body, say("judge.skipped"));
}

outbox.addEventListener("acknowledged", ({ detail: { entry, reply } }) => {
  page.unreachable = false;
  if (entry.path.endsWith("/corrections")) announce(say("judge.corrected"));
  if (reply?.desk) accept(reply.desk);
});

outbox.addEventListener("refused", ({ detail: { entry, failure } }) => {
  tell(say("refused", { message: failure.message }));
  const { question } = entry.extra;
  if (question && failure.status === 422) {
    settled.delete(question.lease); // it can be answered again, with what was given
    drafts.keep(question, { grades: entry.body.grades ?? {}, comment: entry.body.comment ?? "" });
  }
  refresh();
});

outbox.addEventListener("change", () => {
  redrawWaiting();
  redrawProgress();
});

function redrawWaiting() {
  showWaiting(outbox, page.unreachable);
}

/** How many pairs this person has judged, with those that wait here. */
function mine() {
  const waiting = outbox.entries.filter((entry) => entry.path.endsWith("/answers")).length;
  return (page.desk?.progress.mine ?? 0) + waiting;
}

function redrawProgress() {
  if (page.desk) showProgress(page.desk.progress, mine());
}
