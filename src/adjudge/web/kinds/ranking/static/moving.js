/** The sheet that moves a card without keys and without dragging; it stays open, so that several moves follow. */

import { $, write } from "../shared/page.js";
import { placeOf } from "./order.js";

export class MoveSheet {
  #board;
  #card = null;
  #moves;

  /** `moves` are functions of a card: up, down, first, last, tie, unrank, and place(card, n, tied). */
  constructor({ board, moves, ties }) {
    this.#board = board;
    this.#moves = moves;
    this.ties = ties;
    for (const button of $("move").querySelectorAll("[data-move]")) {
      button.addEventListener("click", () => {
        this.#moves[button.dataset.move](this.#card);
        this.draw();
      });
    }
    $("move-form").addEventListener("submit", (event) => {
      event.preventDefault();
      const n = $("move-place").valueAsNumber;
      if (!Number.isInteger(n) || n < 1) return $("move-place").focus();
      this.#moves.place(this.#card, n, event.submitter?.dataset.tied !== undefined);
      $("move").close();
      return undefined;
    });
    $("move").addEventListener("close", () => this.#closed());
  }

  open(card) {
    if (document.querySelector("dialog[open]")) return;
    this.#card = card;
    $("move-place").value = "";
    $("move").showModal();
    this.draw();
  }

  #closed() {
    const card = this.#card;
    this.#card = null;
    if (card) this.#board.focusOn(card);
  }

  /** What the card is called, where it is, and which moves there are from there. */
  draw() {
    const card = this.#card;
    if (!card) return;
    const { groups } = this.#board;
    const at = placeOf(groups, card.id);
    const tied = at >= 0 && groups[at].length > 1;
    write($("move-title"), card.name);
    write($("move-where"), this.#board.wordsOf(card, "rank.stands"));
    const can = {
      first: at !== 0 || tied,
      up: at > 0 || tied,
      down: at >= 0 && (at < groups.length - 1 || tied),
      last: at < 0 || at < groups.length - 1 || tied,
      tie: this.ties() && (tied || at > 0 || (at < 0 && groups.length > 0)),
      unrank: at >= 0,
    };
    const focused = document.activeElement;
    for (const button of $("move").querySelectorAll("[data-move]")) {
      button.setAttribute("aria-disabled", String(!can[button.dataset.move]));
    }
    $("move-tie").hidden = !this.ties();
    $("move-tied").hidden = !this.ties();
    for (const words of $("move-tie").querySelectorAll("[data-when]")) words.hidden = (words.dataset.when === "tied") !== tied;
    if (document.activeElement !== focused) focused?.focus();
  }
}
