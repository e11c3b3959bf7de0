/* A person in the tables of the dashboards. */

import { html } from "./drawing.js";

/** The head of their row: whether they are there, how they are called, and `more` about them. */
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
