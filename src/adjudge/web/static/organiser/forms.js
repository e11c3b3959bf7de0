/* What makes forms pleasant; each of them works without, too: questions, copying, previews, uploads with progress. */

import { ask, send, toast, upload } from "./requests.js";
import { html, several } from "./drawing.js";

/* Ask before what cannot be undone. */
for (const form of document.querySelectorAll("form[data-ask]")) {
  form.addEventListener("submit", async (event) => {
    if (form.dataset.sure === "yes") return;
    event.preventDefault();
    if (!(await ask(form.dataset.ask, form.dataset.yes))) return;
    form.dataset.sure = "yes";
    form.requestSubmit();
  });
}

/* Copy a link; where the clipboard is not to be had (no https), select it. */
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (button === null) return;
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
    toast("Copied.");
  } catch {
    const field = button.parentElement.querySelector("input");
    field?.select();
    toast("Select it and copy it by hand: this browser does not let pages do so.");
  }
});

/* A name for addresses from the title, until somebody writes one. */
for (const name of document.querySelectorAll("[data-slug-of]")) {
  const title = document.getElementById(name.dataset.slugOf);
  let own = name.value !== "";
  name.addEventListener("input", () => { own = name.value !== ""; });
  const follow = () => {
    if (own) return;
    const plain = title.value.normalize("NFKD").replace(/[\u0300-\u036f]/g, "").toLowerCase();
    name.value = plain.replace(/[^a-z0-9]+/g, "-").replace(/^-+|-+$/g, "").slice(0, 60);
  };
  title.addEventListener("input", follow);
  follow(); // somebody may have been faster than this script
}

/* Who writes a level means the goal that it belongs to. */
document.addEventListener("focusin", (event) => {
  const radio = event.target.closest(".goal-level")?.closest("label")?.querySelector('input[type="radio"]');
  if (radio) radio.checked = true;
});

/* Texts of languages that are not chosen are out of the way. */
const languages = document.querySelector("[data-languages]");
function showLanguages() {
  for (const box of languages.querySelectorAll("input")) {
    document.querySelector(`[data-language="${box.value}"]`).hidden = !box.checked;
  }
}
if (languages !== null) {
  languages.addEventListener("change", showLanguages);
  showLanguages();
}

/* What counts only with another choice is out of the way. */
const dependent = document.querySelectorAll("[data-when]");
function showDependent() {
  for (const part of dependent) {
    const [name, ...values] = part.dataset.when.split(" ");
    part.hidden = !values.includes(document.querySelector(`input[name="${name}"]:checked`)?.value);
  }
}
if (dependent.length > 0) {
  document.addEventListener("change", showDependent);
  showDependent();
}

/* Markdown as assessors will see it; the server renders it, so that it is the same. */
for (const text of document.querySelectorAll("[data-markdown]")) {
  const preview = document.querySelector(`[data-preview-of="${text.id}"]`);
  let waiting = 0;
  const follow = () => {
    clearTimeout(waiting);
    waiting = setTimeout(async () => {
      const said = text.value;
      const answer = await send("POST", "/preview", { text: said });
      if (answer !== null && text.value === said) preview.innerHTML = answer.html;
    }, 250);
  };
  text.addEventListener("input", follow);
  if (text.value !== text.defaultValue) follow();
}

/* Times as this browser tells them. */
const told = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });
for (const time of document.querySelectorAll("time[datetime]")) {
  time.title = time.textContent;
  time.textContent = told.format(new Date(time.dateTime));
}

/* Uploads with progress, and files that are dropped. */
for (const form of document.querySelectorAll("form[data-upload]")) {
  const files = form.querySelector('input[type="file"]');
  form.addEventListener("dragover", (event) => {
    event.preventDefault();
    form.classList.add("over");
  });
  form.addEventListener("dragleave", () => form.classList.remove("over"));
  form.addEventListener("drop", (event) => {
    event.preventDefault();
    form.classList.remove("over");
    if (event.dataTransfer.files.length > 0) files.files = event.dataTransfer.files;
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    sendFiles(form);
  });
}

async function sendFiles(form) {
  const [method, url] = form.dataset.upload.split(" ");
  const body = new FormData(form);
  for (const [name, value] of [...body]) {
    if (name === "csrf" || (value instanceof File && value.size === 0 && value.name === "")) body.delete(name);
  }
  const [button, place, words] = ["button", "[data-progress]", "[data-progress-words]"].map((name) => form.querySelector(name));
  const [bar, result] = [form.querySelector("progress"), form.querySelector("[data-result]")];
  button.disabled = true;
  place.hidden = false;
  result.replaceChildren();
  const done = await upload(method, url, body, (share) => {
    bar.value = share;
    words.textContent = share < 1 ? `${Math.round(share * 100)} % sent` : "Sent; the server is reading, checking and levelling it.";
    if (share >= 1) bar.removeAttribute("value");
  });
  button.disabled = false;
  place.hidden = true;
  tell(form, result, done);
}

function tell(form, result, { ok, status, answer }) {
  if (!ok) {
    const why = status === 0 ? "The server cannot be reached, or took too long; nothing of this is sure to be stored." : answer?.error?.message;
    result.replaceChildren(html("p", { class: "notice bad", role: "alert" }, why ?? `The server answered ${status}.`));
    return;
  }
  const problems = answer?.problems ?? [];
  if (problems.length === 0) {
    sessionStorage.setItem("said", summary(answer));
    location.reload();
    return;
  }
  result.replaceChildren(
    html("p", { class: "notice warn" }, `${summary(answer)} ${several(problems.length, "problem")}:`),
    html("ul", { class: "trouble-list", tabindex: "0", "aria-label": "Problems" }, ...problems.map((one) => html("li", {}, html("strong", {}, one.document), `: ${one.problem}`))),
    html("p", {}, html("a", { href: location.pathname }, "Show what is still missing")),
  );
}

function summary(answer) {
  const parts = [];
  if (Array.isArray(answer?.systems)) parts.push(`${several(answer.systems.length, "system")} taken`);
  if (typeof answer?.candidates === "number") parts.push(`${several(answer.queries, "query", "queries")} with ${several(answer.candidates, "candidate")} taken`);
  if (typeof answer?.questions === "number") parts.push(`${several(answer.questions, "question")} and ${several(answer.traps, "attention check")} taken`);
  if (typeof answer?.taken === "number") parts.push(`${answer.taken} taken`);
  if (answer?.already) parts.push(`${answer.already} were there already`);
  if (answer?.skipped) parts.push(`${answer.skipped} not needed`);
  return parts.length > 0 ? `${parts.join(", ")}.` : "Taken.";
}

const said = sessionStorage.getItem("said");
if (said !== null) {
  sessionStorage.removeItem("said");
  toast(said);
}
