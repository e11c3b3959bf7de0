/** What people press on every page that asks: sending and skipping, the language, the copy buttons, the sound's own start. */

import { call } from "./api.js";
import { $, openDialog, setUpDialogs, tell, untell } from "./page.js";
import { say } from "./words.js";

const BY_ITSELF = "adjudge.by-itself";

/** Whether a new question starts playing by itself; people may not like it. */
export const playsByItself = () => localStorage.getItem(BY_ITSELF) !== "no";

/** Copy what a field holds when its button is pressed; the button says that it did. */
export function copies(button, field) {
  button.addEventListener("click", async () => {
    field.select();
    try {
      await navigator.clipboard.writeText(field.value);
    } catch {
      document.execCommand("copy"); // plain http has no clipboard
    }
    button.textContent = say("device.copied");
  });
}

/** The dialog for skips: what a reason does, and how it opens, with the reason chosen that is `likely()`. */
function setUpSkips(skip, likely) {
  $("skip-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const reason = new FormData($("skip-form")).get("reason");
    $("skip").close(); // before the next question comes: it takes the focus and plays only where no dialog is open
    skip(reason, $("skip-comment").value.trim());
  });
  return () => {
    $("skip-comment").value = "";
    const reason = $("skip").querySelector(`input[value=${likely()}]`);
    reason.checked = true;
    reason.focus();
  };
}

/**
 * Let people send and skip what is asked. `deck` plays its clips, `likely()` is the reason for which somebody skips, and
 * `opened` says what else happens when a dialog opens, by its id.
 */
export function setUpControls(asking, { deck, send, skip, likely = () => "broken", opened = {} }) {
  const offerReasons = setUpSkips(skip, likely);
  setUpDialogs({
    skip: () => {
      deck.pause();
      offerReasons();
    },
    ...opened,
  });
  deck.addEventListener("blocked", () => openDialog("start"));
  $("start-button").addEventListener("click", () => {
    $("start").close();
    deck.resume();
  });
  $("question").addEventListener("submit", (event) => {
    event.preventDefault();
    send();
  });
  $("told-close").addEventListener("click", untell);
  $("resting-again").addEventListener("click", () => asking.refresh());
  $("comment").addEventListener("input", () => asking.keepDraft());
  copies($("copy"), $("resume"));
  if ($("by-itself")) $("by-itself").checked = playsByItself();
  $("by-itself")?.addEventListener("change", (event) => localStorage.setItem(BY_ITSELF, event.target.checked ? "yes" : "no"));
  $("language")?.addEventListener("change", async (event) => {
    asking.keepDraft();
    try {
      await call("PATCH", "/api/judging/me", { language: event.target.value });
      location.reload();
    } catch (failure) {
      tell(failure.passes ? say("offline") : failure.message);
      event.target.value = document.documentElement.lang;
    }
  });
}
