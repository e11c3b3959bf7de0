/** The judging page: what people press, other windows, coming and going. The questions themselves are in judging.js. */

import { Answers } from "./answers.js";
import { call, leave } from "./api.js";
import * as drafts from "./drafts.js";
import {
  deck,
  keepDraft,
  outbox,
  page,
  playByItself,
  playsByItself,
  redraw,
  refresh,
  send,
  settled,
  skip,
  tabs,
  unreachable,
  untellDoubt,
} from "./judging.js";
import { listen } from "./keyboard.js";
import { $, announce, openDialog, setUpDialogs, tell, untell } from "./page.js";
import { say } from "./words.js";

const HEARTBEAT_MS = 30_000;

/* ---------- other windows, coming and going ---------- */

tabs.addEventListener("settled", ({ detail: lease }) => {
  settled.add(lease);
  if (page.shown?.lease !== lease) return;
  deck.pause();
  drafts.forget(page.shown);
  page.shown = null;
  refresh().then(() => page.shown && tell(say("judge.elsewhere"), { kind: true }));
});

async function beat() {
  if (document.hidden || (!page.shown && !page.ahead)) return;
  tabs.present();
  try {
    const { expires_at: until } = await call("POST", "/api/judging/heartbeat");
    if (until === null || page.unreachable) refresh(); // given back meanwhile: take it again, or another
  } catch (failure) {
    if (failure.locked) unreachable(failure);
  }
}

document.addEventListener("visibilitychange", () => {
  if (document.hidden) {
    page.tookMs += performance.now() - page.since;
    keepDraft();
  } else {
    page.since = performance.now();
    refresh();
  }
});

addEventListener("pagehide", () => {
  keepDraft();
  if (tabs.depart()) leave();
});
addEventListener("pageshow", (event) => {
  tabs.present();
  if (event.persisted) refresh();
});
addEventListener("beforeunload", (event) => {
  if (outbox.size && outbox.trouble !== "locked") event.preventDefault();
});
addEventListener("online", () => page.unreachable && refresh());

/* ---------- what people press ---------- */

const answers = new Answers({ body: $("answers-body"), outbox, scales: () => page.desk?.scales ?? [] });
const opened = {
  answers: () => {
    deck.pause();
    answers.show({ first: true });
  },
  skip: () => {
    $("skip-comment").value = "";
    const likely = deck.broken ? "broken" : "cannot_tell";
    const reason = $("skip").querySelector(`input[value=${likely}]`);
    reason.checked = true;
    reason.focus();
  },
};
setUpDialogs(opened);

deck.addEventListener("change", redraw);
deck.addEventListener("play", ({ detail: name }) => announce(say("judge.playing", { name })));
deck.addEventListener("blocked", () => $("start").open || openDialog("start", opened));
deck.addEventListener("ended", ({ detail: side }) => {
  keepDraft();
  const other = deck.clips.candidate;
  if (side === "query" && playsByItself() && other.isAudio && !other.started && page.shown) deck.play("candidate");
});
$("start-button").addEventListener("click", () => {
  $("start").close();
  deck.play(deck.active);
});
$("question").addEventListener("submit", (event) => {
  event.preventDefault();
  send();
});
$("switch").addEventListener("click", () => deck.switch());
$("doubt-keep").addEventListener("click", send);
$("doubt-change").addEventListener("click", () => {
  untellDoubt();
  page.fields.all[0].focus();
});
$("comment").addEventListener("input", keepDraft);
$("told-close").addEventListener("click", untell);
$("resting-again").addEventListener("click", refresh);
$("skip-form").addEventListener("submit", () => {
  const chosen = new FormData($("skip-form")).get("reason");
  skip(chosen, $("skip-comment").value.trim());
});
$("copy").addEventListener("click", async () => {
  $("resume").select();
  try {
    await navigator.clipboard.writeText($("resume").value);
  } catch {
    document.execCommand("copy"); // plain http has no clipboard
  }
  $("copy").textContent = say("device.copied");
});
$("language")?.addEventListener("change", async (event) => {
  keepDraft();
  try {
    await call("PATCH", "/api/judging/me", { language: event.target.value });
    location.reload();
  } catch (failure) {
    tell(failure.passes ? say("offline") : failure.message);
    event.target.value = document.documentElement.lang;
  }
});
$("by-itself").checked = playsByItself();
$("by-itself").addEventListener("change", (event) => playByItself(event.target.checked));

const asking = (action) => (...values) => page.shown && action(...values);
listen({
  toggle: asking(() => deck.toggle()),
  press: asking((side) => deck.press(side)),
  switch: asking(() => deck.switch()),
  replay: asking(() => deck.replay()),
  seek: asking((seconds) => deck.seek(seconds)),
  slide: asking((steps) => page.fields.meant(page.fields.sliders)?.move(steps)),
  level: asking((digit) => {
    const field = page.fields.meant(page.fields.buttons);
    if (field) field.press(digit);
    else typeNumber(digit);
  }),
  number: asking(() => typeNumber("")),
  send: asking(send),
  undo: () => openDialog("answers", opened),
  skip: asking(() => openDialog("skip", opened)),
  help: () => openDialog("help", opened),
});

function typeNumber(digit) {
  const field = page.fields.meant(page.fields.sliders);
  if (!field) return;
  field.box.focus();
  field.box.value = digit;
  field.box.dispatchEvent(new Event("input"));
}

tabs.present();
setInterval(beat, HEARTBEAT_MS);
setTimeout(beat, 4000); // the goodbye of a page before a reload may arrive after this page's hello
setInterval(keepDraft, 2000);
refresh().then(() => outbox.hurry());
