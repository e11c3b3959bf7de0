/** What a page says besides the question: banners, announcements, dialogs, and what it shows while it rests. */

import { count, knows, say } from "./words.js";

export const $ = (id) => document.getElementById(id);

let unsaid = [];

/** Tell people who do not see the page what happened; what happens at once is told in one go. */
export function announce(words) {
  unsaid.push(words);
  if (unsaid.length > 1) return;
  $("live").textContent = "";
  setTimeout(() => {
    $("live").textContent = unsaid.join(" ");
    unsaid = [];
  }, 100);
}

/** Write words into an element; nothing happens where they are there already. */
export function write(element, words) {
  if (element.textContent !== words) element.textContent = words;
}

/** Several remarks, a span each; nothing happens where they are there already. */
function writeAll(element, remarks) {
  const spans = [...element.children];
  if (spans.length === remarks.length && spans.every((span, place) => span.textContent === remarks[place])) return;
  element.replaceChildren(...remarks.map((words) => Object.assign(document.createElement("span"), { textContent: words })));
}

/** Point to an element for a moment; again where it was pointed to already. */
export function blink(element) {
  element.classList.remove("is-asking");
  requestAnimationFrame(() => element.classList.add("is-asking"));
}

/** What is still missing before an answer can be sent, or that nothing is, in the words of `ready`. */
export function showMissing(remarks, ready = say("missing.nothing")) {
  writeAll($("missing"), remarks.length ? remarks : [ready]);
  $("missing").classList.toggle("is-ready", !remarks.length);
  $("send").setAttribute("aria-disabled", String(remarks.length > 0));
}

/** Say what keeps an answer from being sent, and point to it. */
export function refuse(remarks) {
  announce(remarks.join(". "));
  blink($("missing"));
}

/** How far somebody is: in words, and as a share. */
export function showProgress(words, share, { shown = true } = {}) {
  write($("progress-words"), words);
  $("progress-bar").value = Math.min(1, share);
  $("progress").hidden = !shown;
}

/** The comment of a question, in a box that is open where there is one. */
export function showComment(comment = "") {
  $("comment").value = comment;
  $("comment-box").open = Boolean(comment);
}

/** Something that people should know, until it is closed; `kind` where nothing went wrong. */
export function tell(words, { kind = false } = {}) {
  $("told").classList.toggle("is-kind", kind);
  $("told-words").textContent = words;
  $("told").hidden = false;
}

export function untell() {
  $("told").hidden = true;
}

/** Whether answers wait here, and why. */
export function showWaiting(outbox, unreachable) {
  const banner = $("banner");
  const waiting = outbox.size;
  let words = "";
  if (outbox.trouble === "locked") words = say("locked");
  else if (outbox.trouble === "server" && waiting) words = count("server.waiting", waiting);
  else if ((outbox.trouble === "offline" || !navigator.onLine) && waiting) words = count("offline.waiting", waiting);
  else if (unreachable || !navigator.onLine) words = say("offline");
  if (banner.hidden === !words && banner.textContent === words) return;
  if (!words && !banner.hidden) announce(say("stored"));
  banner.textContent = words;
  banner.hidden = !words;
}

/** Show one of: "question", "resting", "ended", "loading". */
export function showOnly(name) {
  for (const part of ["question", "resting", "ended", "loading"]) if ($(part)) $(part).hidden = part !== name;
}

/** Kind words where there is no question; a page may have `words` of its own. */
export function rest(why, { mine = 0, message = "", words: own = "rest" } = {}) {
  const said = (key) => say([`${own}.${key}`, `rest.${key}`].find(knows) ?? "");
  const words = message || said(why);
  const changed = $("resting").hidden || $("resting-words").textContent !== words;
  write($("resting-title"), said(`${why}.title`));
  write($("resting-words"), words);
  write($("resting-thanks"), mine && knows(`${own}.thanks.other`) ? count(`${own}.thanks`, mine) : say("rest.thanks.none"));
  $("resting").dataset.why = why;
  $("resting-again").hidden = !["wait", "paused", "draft", "offline", "handed_back"].includes(why);
  showOnly("resting");
  if (changed && !document.querySelector("dialog[open]")) $("resting-title").focus({ preventScroll: true });
}

const opened = {}; // what else happens when a dialog opens, by its id

/** Dialogs: opened by buttons with data-open, closed by data-close, by Esc, or by a press beside them. */
export function setUpDialogs(openings) {
  Object.assign(opened, openings);
  let pressed = null; // where a press began: marking words up to the edge of a dialog does not close it
  document.addEventListener("pointerdown", (event) => (pressed = event.target), true);
  document.addEventListener("click", (event) => {
    const opener = event.target.closest?.("[data-open]");
    if (opener) openDialog(opener.dataset.open);
    if (event.target.closest?.("[data-close]")) event.target.closest("dialog").close();
    const beside = event.target instanceof HTMLDialogElement && pressed === event.target;
    if (beside && !["start", "conflict"].includes(event.target.id)) event.target.close();
  });
}

export function openDialog(id) {
  if (document.querySelector("dialog[open]")) return;
  $(id).showModal();
  opened[id]?.();
}
