/* Tables of the dashboards. */

import { html, several } from "./drawing.js";

/** A table that scrolls by itself. Heads are words, or words and their title; `isNumber` says which columns hold numbers. */
export function table(label, heads, rows, { kind = "", tall = false, isNumber = (column) => column > 0 } = {}) {
  const head = ([text, title], column) => html("th", { scope: "col", class: isNumber(column) ? "number" : null, title }, text);
  return html(
    "div",
    { class: `table-scroll${tall ? " tall" : ""}`, tabindex: "0", role: "region", "aria-label": label },
    html("table", { class: `table ${kind}` }, html("thead", {}, html("tr", {}, ...heads.map((text) => [text].flat()).map(head))), html("tbody", {}, ...rows)),
  );
}

/** The same numbers as in a chart, to read. */
export const asTable = (summary, scrolling) => html("details", { class: "as-table" }, html("summary", {}, summary), scrolling);

/** A row per person, `most` at the most, or that there is `nobody`; `about` stands below the table. */
export function drawPeopleTable(place, people, { label, heads, row, nobody, about = "", most = 40, isNumber }) {
  const link = (words) => html("a", { href: place.dataset.people }, words);
  if (people.length === 0) {
    place.replaceChildren(html("p", { class: "soft" }, `${nobody} `, link("Invite somebody"), "."));
    return;
  }
  const rest = people.length - most;
  place.replaceChildren(
    table(label, heads, people.slice(0, most).map(row), { kind: "assessors", isNumber }),
    about && html("p", { class: "small soft" }, about),
    rest > 0 ? html("p", { class: "small soft" }, "And ", link(several(rest, "more person", "more people")), ".") : "",
  );
}

/** The head of somebody's row: whether they are there, how they are called, and `more` about them. */
export function personHead({ name, code, live }, ...more) {
  return html(
    "th",
    { scope: "row" },
    html("span", { class: `dot ${live ? "on" : ""}`, "aria-hidden": "true" }),
    html("span", {}, name || code),
    name && html("span", { class: "soft small" }, ` ${code}`),
    ...more,
  );
}
