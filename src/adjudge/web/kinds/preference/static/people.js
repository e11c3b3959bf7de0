/* Who compares lists: whether they are there, whether they listen; and attention checks that are missed too often. */

import { count, html, known, lasting, percent, since } from "../organiser/drawing.js";
import { drawPeopleTable, personHead } from "../organiser/tables.js";

const STATES = {
  live: ["answering now", "good"],
  idle: ["away", ""],
  done: ["finished", "good"],
  screened_out: ["quiz not passed", "info"],
  failed: ["stopped", "warn"],
  blocked: ["blocked", "warn"],
};
const WHY = { quiz: "quiz not passed", traps: "too many attention checks missed", attention: "probably not listening", organiser: "by an organiser" };

/** Those who are there first. */
export function drawPeople(place, { people }) {
  drawPeopleTable(place, people, {
    label: "Table of people",
    heads: ["Person", "Answers", "Checks right", "P(listens)", "Median time", "Signs against listening", "Seen"],
    row: personRow,
    nobody: "Nobody has answered yet, and nobody is here now.",
    isNumber: (column) => column > 0 && column !== 5,
  });
}

function personRow(person) {
  const [words, kind] = STATES[person.state] ?? [person.state, ""];
  return html(
    "tr",
    { class: person.live ? "is-live" : null },
    personHead(
      person,
      " ",
      person.state !== "idle" && html("span", { class: `badge ${kind}` }, words),
      person.set_aside_why && html("span", { class: "badge bad", title: WHY[person.set_aside_why] ?? person.set_aside_why }, "excluded"),
    ),
    html("td", { class: "number" }, count(person.answers)),
    html("td", { class: "number" }, person.traps_asked ? `${person.traps_right} of ${person.traps_asked}` : "–"),
    html("td", { class: "number" }, known(person.probability) ? chance(person.probability) : "–"),
    html("td", { class: "number" }, lasting(person.median_seconds)),
    html("td", { class: "cues" }, person.cues.length ? person.cues.join("; ") : "–"),
    html("td", { class: "number" }, since(person.seen_at)),
  );
}

/** A probability that is never called certain. */
const chance = (probability) => (probability > 0.995 ? "> 99 %" : probability < 0.005 ? "< 1 %" : percent(probability));

/** Attention checks that people miss who get most of the others right. */
export function drawTraps(place, { traps }) {
  if (traps.length === 0) {
    place.replaceChildren();
    return;
  }
  const each = traps.map((trap) => `${trap.name} (${trap.right} of ${trap.asked} right)`).join(", ");
  place.replaceChildren(
    html(
      "p",
      { class: "notice warn" },
      `${traps.length === 1 ? "An attention check is" : `${traps.length} attention checks are`} missed by people who get most of the others right: ${each}. Checks like that cost you good people; look at them on the set-up page.`,
    ),
  );
}
