/** One's last answers: hear them again, change them. */

import { call, newKey } from "../shared/api.js";
import { made } from "../shared/elements.js";
import { isHeard } from "../shared/notation.js";
import { clock, count, say } from "../shared/words.js";
import { Fields, nameOf } from "./scales.js";

const LAST = 10;

export class Answers {
  #audio = new Audio();
  #playing = null;

  constructor({ body, outbox, scales }) {
    this.body = body;
    this.outbox = outbox;
    this.scales = scales; // a function: they come with the first question
    for (const name of ["pause", "ended"]) this.#audio.addEventListener(name, () => this.#mark(null));
    body.closest("dialog").addEventListener("close", () => this.#audio.pause());
  }

  /** Fetch and show; with `first` the newest is opened for a change at once. */
  async show({ first = false } = {}) {
    this.body.replaceChildren(made("p", { className: "soft", textContent: say("loading") }));
    const waiting = this.outbox.entries.filter((entry) => entry.path.endsWith("/answers")).length;
    const note = waiting ? [made("p", { className: "notice", textContent: count("answers.waiting", waiting) })] : [];
    try {
      const { answers } = await call("GET", `/api/judging/answers?last=${LAST}`);
      const list = made("ol", { className: "past" }, ...answers.map((answer, place) => this.#row(answer, place)));
      const nothing = made("p", { className: "empty", textContent: say("answers.none") });
      this.body.replaceChildren(...note, answers.length ? list : nothing);
      if (first) list.querySelector("[data-change]")?.focus();
    } catch (failure) {
      const words = failure.passes ? say("answers.unreachable") : failure.message;
      this.body.replaceChildren(...note, made("p", { className: "notice warn", textContent: words }));
    }
  }

  #row(answer, place) {
    const grades = made("span", { className: "past-grades" }, ...this.scales().map((scale) => this.#grade(scale, answer.grades[scale.name])));
    const time = made("time", { className: "soft small", textContent: clock(answer.at), dateTime: new Date(answer.at * 1000).toISOString() });
    const change = made("button", { type: "button", className: "button small", textContent: say("answers.change") });
    change.dataset.change = "";
    change.setAttribute("aria-label", say("answers.change.which", { time: clock(answer.at) }));
    change.setAttribute("aria-expanded", "false");
    const plays = made("span", { className: "row past-plays" }, ...["query", "candidate"].map((side) => this.#item(answer[side], side)));
    const row = made("li", { className: "past-row" }, made("div", { className: "past-line" }, time, plays, grades, change));
    change.addEventListener("click", () => this.#edit(row, answer, place, change));
    return row;
  }

  #grade(scale, value) {
    const label = value === undefined ? "–" : new Fields(document.createElement("div"), [scale], "shown", () => {});
    if (label instanceof Fields) label.grades = { [scale.name]: value };
    const words = label instanceof Fields ? label.all[0].words : label;
    return made("span", { className: "badge", textContent: words, title: nameOf(scale) });
  }

  /** What was compared: to hear, to open, or to see in small. */
  #item(item, side) {
    if (isHeard(item)) return this.#play(item, side);
    const letter = side === "query" ? "Q" : "C";
    if (item.kind === "image") return made("img", { className: "past-picture", src: item.url, alt: say("clip.image", { name: say(side) }) });
    if (item.kind === "text") return made("span", { className: "past-text small", textContent: `${letter}: ${item.text}`, title: item.text });
    const link = made("a", { className: "small", href: item.text ?? item.url, target: "_blank", rel: "noopener noreferrer", textContent: `${letter}: ${item.text ?? item.url}` });
    link.classList.add("past-text");
    return link;
  }

  #play(item, side) {
    const button = made("button", { type: "button", className: `button small play-small of-${side}`, textContent: `▶ ${side === "query" ? "Q" : "C"}` });
    button.setAttribute("aria-label", say("clip.play", { name: say(side) }));
    button.addEventListener("click", () => {
      if (this.#playing === button) return this.#audio.pause();
      this.#audio.src = item.url;
      this.#mark(button);
      return this.#audio.play().catch(() => this.#mark(null));
    });
    return button;
  }

  #mark(button) {
    this.#playing?.classList.remove("is-on");
    this.#playing = button;
    button?.classList.add("is-on");
  }

  #edit(row, answer, place, change) {
    const open = row.querySelector("form");
    if (open) {
      open.remove();
      change.setAttribute("aria-expanded", "false");
      return;
    }
    change.setAttribute("aria-expanded", "true");
    const box = made("div", { className: "scales" });
    const fields = new Fields(box, this.scales(), `past-${place}`, () => {});
    fields.grades = answer.grades;
    const comment = made("textarea", { rows: 2, maxLength: 2000, value: answer.comment ?? "", placeholder: say("comment.placeholder") });
    comment.setAttribute("aria-label", say("comment"));
    const save = made("button", { type: "submit", className: "button primary small", textContent: say("save") });
    const lacking = made("span", { className: "soft small" });
    lacking.setAttribute("role", "alert");
    const form = made("form", { className: "stack past-form", noValidate: true }, box, comment, made("div", { className: "row end" }, lacking, save));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      lacking.textContent = fields.missing.join(" · ");
      if (fields.missing.length) return;
      this.#save(answer, fields.grades, comment.value.trim());
      row.replaceWith(this.#saved({ ...answer, grades: fields.grades, comment: comment.value.trim() }, place));
    });
    row.append(form);
    fields.all[0].focus();
  }

  #save(answer, grades, comment) {
    this.outbox.put("/api/judging/corrections", { answer: answer.answer, key: newKey(), grades, comment: comment || null });
  }

  #saved(answer, place) {
    const row = this.#row(answer, place);
    row.querySelector(".past-grades").append(made("span", { className: "badge good", textContent: `✓ ${say("answers.saved")}` }));
    requestAnimationFrame(() => row.querySelector("[data-change]").focus());
    return row;
  }
}
