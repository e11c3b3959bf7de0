/** How somebody's part ends: thanks, what happens now, and the code by which a recruiter knows. */

import { copies } from "../shared/controls.js";
import { $, showOnly, write } from "../shared/page.js";
import { say } from "../shared/words.js";

const RECRUITER = $("ended").dataset.recruiter;

copies($("code-copy"), $("code"));

/** Show an outcome ("done", "screened_out", "failed") with its code and address, where there are any. */
export function showEnd(outcome, completion) {
  const code = completion?.code ?? "";
  const address = /^https?:\/\//i.test(completion?.address ?? "") ? completion.address : "";
  const ways = code || address;
  write($("ended-title"), say(`ended.${outcome}.title`));
  write($("ended-words"), say(`ended.${outcome}`));
  write($("ended-next"), say(ways ? (address ? "ended.next.link" : "ended.next.code") : "ended.next.close"));
  $("code").value = code;
  $("code-box").hidden = !code;
  $("way-back").hidden = !address;
  if (address) $("way-back").href = address;
  else $("way-back").removeAttribute("href");
  write($("way-back"), say(RECRUITER === "prolific" ? "ended.prolific" : "ended.continue"));
  $("ended").dataset.outcome = outcome;
  const fresh = $("ended").hidden;
  showOnly("ended");
  $("progress").hidden = true;
  if (fresh && !document.querySelector("dialog[open]")) $("ended-title").focus({ preventScroll: true });
}

/** Nothing of the way back is in the page. */
export function clearEnd() {
  $("code").value = "";
  $("way-back").removeAttribute("href");
}
