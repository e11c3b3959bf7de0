/** The words of the page, in the language that the server wrote into it. */

const WORDS = JSON.parse(document.getElementById("words").textContent);
const LANGUAGE = document.documentElement.lang || "en";
const PLURALS = new Intl.PluralRules(LANGUAGE);
const PLACE = navigator.languages?.find((one) => one.split("-")[0] === LANGUAGE) ?? LANGUAGE; // en-GB rather than en
const NUMBERS = new Intl.NumberFormat(PLACE, { maximumFractionDigits: 3 });

/** A sentence with its {placeholders} filled in. */
export function say(key, values = {}) {
  return (WORDS[key] ?? key).replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
}

/** A sentence that counts something: key.one or key.other, as the language has it. */
export function count(key, n, values = {}) {
  const form = PLURALS.select(n) === "one" ? "one" : "other";
  return say(`${key}.${form}`, { n: number(n), ...values });
}

export const knows = (key) => key in WORDS;
export const number = (value) => NUMBERS.format(value);
export const clock = (at) => new Intl.DateTimeFormat(PLACE, { hour: "2-digit", minute: "2-digit" }).format(at * 1000);

/** Seconds as m:ss. */
export function minutes(seconds) {
  const whole = Number.isFinite(seconds) ? Math.max(0, Math.floor(seconds + 1e-3)) : 0;
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}
