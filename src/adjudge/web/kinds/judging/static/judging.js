/** A question of the judging page: what is heard and graded. How one follows another is in ../shared/asking.js. */

import { newKey } from "../shared/api.js";
import { Asking } from "../shared/asking.js";
import { playsByItself } from "../shared/controls.js";
import { Drafts } from "../shared/drafts.js";
import { neededMs } from "../shared/listened.js";
import { $, announce, refuse, showComment, showMissing, showProgress } from "../shared/page.js";
import { count, number, say } from "../shared/words.js";
import { Deck } from "./player.js";
import { Fields } from "./scales.js";

export const deck = new Deck($("question"));
export const page = {
  fields: null,
  scales: "", // those that the fields are for
  asked: false, // whether grades that hardly go together were asked about
};

/* ---------- on the page ---------- */

const view = {
  take(desk) {
    const scales = JSON.stringify(desk.scales);
    if (scales === page.scales) return;
    page.scales = scales;
    page.fields = new Fields($("scales"), desk.scales, "now", () => graded());
  },

  show(question, draft) {
    untellDoubt();
    page.asked = false;
    deck.load(question);
    page.fields.grades = draft?.grades ?? {};
    showComment(draft?.comment);
    for (const [side, clip] of Object.entries(deck.clips)) {
      clip.heardMs = draft?.heard?.[side] ?? 0;
      clip.looked = draft?.looked?.[side] ?? false;
    }
    $("switch").hidden = !(deck.clips.query.isAudio && deck.clips.candidate.isAudio);
    redraw();
    begin(question);
  },

  prepare: (ahead) => deck.prepare(ahead),
  pause: () => deck.pause(),

  draft() {
    const { query, candidate } = deck.clips;
    return {
      grades: page.fields.grades,
      comment: $("comment").value,
      heard: { query: query.heardMs, candidate: candidate.heardMs },
      looked: { query: query.looked, candidate: candidate.looked },
    };
  },

  given: (body) => ({ grades: body.grades ?? {}, comment: body.comment ?? "" }),

  /** A query that was heard is known in the next question. */
  carry(question, body, next) {
    const same = next.query.url === question.query.url && next.query.text === question.query.text;
    if (body.grades && same) next.heard_query = true;
  },

  mine: (waiting) => (asking.desk?.progress.mine ?? 0) + waiting,

  /** How much this person did and how much the campaign still needs. */
  progress() {
    const { progress } = asking.desk;
    const remaining = progress.done ? 0 : progress.remaining;
    const parts = [count("progress.mine", asking.mine)];
    if (progress.done) parts.push(say("progress.reached"));
    else if (remaining !== null) parts.push(count("progress.remaining", remaining));
    const whole = remaining === null ? progress.candidates : progress.judged + remaining;
    showProgress(parts.join(" · "), progress.done ? 1 : whole > 0 ? progress.judged / whole : 0);
  },
};

export const asking = new Asking({
  owner: $("question").dataset.owner,
  address: "/api/judging",
  next: "ahead",
  words: "judge.rest",
  drafts: new Drafts(sessionStorage, "adjudge.draft."),
  view,
});

asking.outbox.addEventListener("acknowledged", ({ detail: { entry } }) => {
  if (entry.path.endsWith("/corrections")) announce(say("judge.corrected"));
});

/** Start the sound of a new question; the query first, unless it is known. */
function begin(question) {
  if (!playsByItself() || document.querySelector("dialog[open]") || document.hidden) return;
  const known = question.heard_query && deck.clips.candidate.isAudio;
  deck.play(known || !deck.clips.query.isAudio ? "candidate" : "query");
}

/* ---------- listening and grading ---------- */

function needed(side) {
  const clip = deck.clips[side];
  if (side === "query" && asking.shown.heard_query) return 0;
  return neededMs(clip.item, asking.desk.listen_seconds, clip.duration);
}

const lackingMs = (side) => Math.max(0, needed(side) - Math.floor(deck.clips[side].heardMs));

/** What is still missing before an answer can be sent, in words; most telling first. */
function missing() {
  const words = [];
  for (const [side, clip] of Object.entries(deck.clips)) {
    const seconds = Math.ceil(lackingMs(side) / 1000);
    if (seconds > 0) words.push(say(`missing.${side}`, { seconds: number(seconds) }));
    const unseen = clip.item.kind === "url" && !clip.looked && !(side === "query" && asking.shown.heard_query);
    if (unseen) words.push(say(`missing.look.${side}`));
  }
  return [...words, ...page.fields.missing];
}

export function redraw() {
  if (!asking.shown) return;
  showMissing(missing());
  for (const [side, clip] of Object.entries(deck.clips)) clip.showHeard(lackingMs(side) === 0, needed(side));
}

function graded() {
  if (!page.fields.doubt) untellDoubt();
  asking.keepDraft();
  redraw();
}

/* ---------- sending ---------- */

/** What goes with every answer and skip. */
function sent(comment) {
  const { query, candidate } = deck.clips;
  const heard = { query_ms: Math.floor(query.heardMs), candidate_ms: Math.floor(candidate.heardMs) };
  return { key: newKey(), heard, ...(comment ? { comment } : {}) };
}

export function send() {
  if (!asking.shown) return;
  const words = missing();
  if (words.length) refuse(words);
  else if (page.fields.doubt && !page.asked) askDoubt(page.fields.doubt);
  else asking.goOn("answers", { ...sent($("comment").value.trim()), grades: page.fields.grades }, say("judge.sent"));
}

export function skip(reason, comment) {
  if (asking.shown) asking.goOn("skips", { ...sent(comment), reason }, say("judge.skipped"));
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
