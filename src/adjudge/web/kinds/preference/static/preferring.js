/** A question of the preference page: a query and two lists, what of them is heard, which is better. How one question
 * follows another is in ../shared/asking.js. "first" and "second" are the lists as they stand on the page. */

import { newKey } from "../shared/api.js";
import { Asking } from "../shared/asking.js";
import { playsByItself } from "../shared/controls.js";
import { Deck, Track } from "../shared/deck.js";
import { Drafts, itemsOf } from "../shared/drafts.js";
import { $, announce, refuse, showComment, showMissing, showProgress, write } from "../shared/page.js";
import { drawSeek } from "../shared/seeking.js";
import { minutes, number, say } from "../shared/words.js";
import { clearEnd, showEnd } from "./ending.js";
import { KEYS } from "./keyboard.js";
import { Row } from "./rows.js";

const LISTS = ["first", "second"];

export const deck = new Deck($("sound"));
let rows = [];
let allHeard = false; // whether it was said that nothing is left to hear

const choices = () => [...$("choices").querySelectorAll("input")];
const choice = () => choices().find((input) => input.checked)?.value ?? null;

/* ---------- on the page ---------- */

/** The query, or one of a list; `place` is "query", "first" or "second", and ranks begin at 1. Links must be opened. */
class ListedTrack extends Track {
  constructor(item, { place, rank, ...more }) {
    super(item, more);
    Object.assign(this, { place, rank });
  }

  get isRequired() {
    return super.isRequired || this.item.kind === "url";
  }

  get share() {
    return this.item.kind === "url" ? Number(this.looked) : super.share;
  }
}

const tracksIn = (place) => deck.tracks.filter((track) => track.place === place);
export const trackAt = (place, rank) => tracksIn(place).find((track) => track.rank === rank);

/** The tracks of a question, in the order in which they are on the page. */
function tracksOf(question, listenSeconds) {
  const query = new ListedTrack(question.query, { place: "query", rank: 0, name: say("query"), listenSeconds });
  const lists = LISTS.flatMap((place) =>
    question[place].map((item, before) => {
      const rank = before + 1;
      const name = say("prefer.result", { list: say(`prefer.${place}`), rank: number(rank) });
      return new ListedTrack(item, { place, rank, name, listenSeconds });
    }),
  );
  return [query, ...lists];
}

function build() {
  rows = deck.tracks.map((track) => {
    const key = track.place === "query" ? "Q" : KEYS[track.place][track.rank - 1];
    return new Row(track, deck, { tag: track.place === "query" ? "div" : "li", key });
  });
  for (const place of ["query", ...LISTS]) {
    const own = rows.filter((row) => row.track.place === place);
    $(`list-${place}`).replaceChildren(...own.map((row) => row.element));
  }
  for (const place of LISTS) $(`tour-${place}`).hidden = !tracksIn(place).some((track) => track.isAudio);
  const sounds = deck.tracks.some((track) => track.isAudio);
  $("transport").hidden = $("tour").hidden = !sounds;
  $("deck").classList.toggle("has-sight", !deck.tracks[0].isAudio);
  $("lists").classList.toggle("has-sights", deck.tracks.some((track) => track.place !== "query" && (!track.isAudio || track.item.kind === "notation")));
}

const view = {
  show(question, draft) {
    clearEnd();
    deck.load(tracksOf(question, asking.desk.listen_seconds));
    deck.tracks.forEach((track, place) => {
      track.heardMs = draft?.heard?.[place] ?? 0;
      track.looked = draft?.looked?.[place] ?? false;
    });
    build();
    for (const input of choices()) input.checked = input.value === draft?.choice;
    showComment(draft?.comment);
    allHeard = missingTracks().length === 0;
    redraw();
    if (playsByItself() && !draft && !document.querySelector("dialog[open]") && !document.hidden) tourAll();
  },

  prepare: (ahead) => deck.prepare(ahead ? itemsOf(ahead) : null),
  pause: () => deck.pause(),

  draft: () => ({
    choice: choice(),
    comment: $("comment").value,
    heard: deck.tracks.map((track) => track.heardMs),
    looked: deck.tracks.map((track) => track.looked),
  }),

  given: ({ choice: given, comment, heard }) => ({
    choice: given,
    comment: comment ?? "",
    heard: [heard.query_ms, ...heard.first_ms, ...heard.second_ms],
  }),

  mine: (waiting) => (asking.desk?.progress.answered ?? 0) + waiting,

  /** Which question this is of how many; those to warm up with are counted apart. */
  progress() {
    const { progress } = asking.desk;
    const warming = progress.phase === "quiz";
    const [answered, of] = warming ? [progress.quiz_answered, progress.quiz_of] : [progress.answered, progress.of];
    const n = Math.min(of, answered + asking.waiting + 1);
    const words = say(warming ? "prefer.progress.quiz" : "prefer.progress", { n: number(n), of: number(of) });
    showProgress(words, of > 0 ? (answered + asking.waiting) / of : 0, { shown: Boolean(asking.shown) });
  },

  /** The end shows only when nothing waits here: the server then has every answer. */
  ended(desk) {
    if (desk?.why !== "ended" || asking.outbox.size) return false;
    showEnd(desk.outcome ?? "failed", desk.completion);
    return true;
  },
};

const { owner } = $("question").dataset;
export const asking = new Asking({
  owner,
  address: "/api/preference",
  next: "next",
  words: "prefer.rest",
  drafts: new Drafts(localStorage, `adjudge.draft.${owner}.`), // eleven clips are not heard again for a closed window
  view,
});

/* ---------- listening and choosing ---------- */

export const tourAll = () => deck.tour("all", deck.tracks);
export const tourList = (place) => deck.tour(place, tracksIn(place));

const required = () => deck.tracks.filter((track) => track.isRequired);
const missingTracks = () => required().filter((track) => !track.isDone);

/** What is said of things to hear, or of links where there is nothing to hear. */
const saidOfAll = (key, values) => say(`prefer.${required().some((track) => track.isAudio) ? "heard" : "opened"}${key}`, values);

function heardWords() {
  const all = required();
  return saidOfAll("", { n: number(all.length - missingTracks().length), of: number(all.length) });
}

export function redraw() {
  if (!asking.shown) return;
  for (const row of rows) row.draw();
  drawTransport();
  for (const place of LISTS) drawTour(place, "prefer.tour.short", say(`prefer.${place}`));
  drawTour("all", "prefer.tour.all");
  const missing = missingTracks();
  showMissing([...(missing.length ? [heardWords()] : []), ...(choice() ? [] : [say("prefer.choose")])]);
  if (!missing.length && !allHeard) announce(saidOfAll(".all"));
  allHeard = !missing.length;
}

/** What the slider moves through: the clip that plays, or played last. */
function drawTransport() {
  const { active, position } = deck;
  if (!active) return;
  const { duration, name } = active;
  const seek = $("seek");
  $("transport").dataset.place = active.place;
  write($("now"), name);
  write($("now-time"), `${minutes(position)} / ${minutes(duration)}`);
  drawSeek(seek, { position, duration });
  const label = say("clip.position", { name });
  if (seek.getAttribute("aria-label") !== label) seek.setAttribute("aria-label", label);
}

/** A button that plays several clips: it says so, or that it pauses them. */
function drawTour(name, words, list = "") {
  const button = $(name === "all" ? "tour" : `tour-${name}`);
  const on = deck.touring === name;
  button.classList.toggle("is-playing", on);
  write(button.querySelector("span"), say(on ? "prefer.pause" : words));
  const label = list && say(on ? "prefer.tour.pause" : "prefer.tour", { name: list });
  if (label && button.getAttribute("aria-label") !== label) button.setAttribute("aria-label", label);
}

export function choose(which) {
  const input = choices().find((one) => one.value === which);
  input.checked = true;
  announce(say("prefer.chosen", { choice: input.parentElement.querySelector(".choice-words").textContent }));
  chosen();
}

export function chosen() {
  asking.keepDraft();
  redraw();
}

/** What plays, and how much there is still to hear. */
deck.addEventListener("play", ({ detail: track }) => {
  const playing = say("judge.playing", { name: track.name });
  announce(missingTracks().length ? `${playing}. ${heardWords()}.` : playing);
});

/* ---------- sending ---------- */

/** What goes with every answer and skip. */
function sent(comment) {
  const heardOf = (place) => tracksIn(place).map((track) => Math.floor(track.heardMs));
  const heard = { query_ms: heardOf("query")[0], first_ms: heardOf("first"), second_ms: heardOf("second") };
  return { key: newKey(), heard, ...(comment ? { comment } : {}) };
}

export function send() {
  if (!asking.shown) return;
  const missing = missingTracks();
  if (missing.length || !choice()) point(missing);
  else asking.goOn("answers", { ...sent($("comment").value.trim()), choice: choice() }, say("judge.sent"));
}

export function skip(reason, comment) {
  if (asking.shown) asking.goOn("skips", { ...sent(comment), reason }, say("judge.skipped"));
}

/** Refuse to send while tracks are not heard or nothing is chosen, and point to them. */
function point(missing) {
  const names = missing.map((track) => track.name).join("; ");
  refuse([...(names ? [saidOfAll(".still", { names })] : []), ...(choice() ? [] : [say("prefer.choose")])]);
  for (const row of rows) if (missing.includes(row.track)) row.nod();
  rows.find((row) => missing.includes(row.track))?.element.scrollIntoView({ block: "nearest" });
}
