/** Orders: groups of candidates by their numbers, the most similar group first; who is in none of them has no place.
 *
 * Nothing here changes an order: every function gives another one, and the very same where there is nothing to change.
 * Places are counted from 0 here, and from 1 where people read them.
 */

/** An order as a short line of text, and back. */
export const written = (groups) => groups.map((group) => group.join(".")).join("-");
export const read = (line) => (line ? line.split("-").map((group) => group.split(".").map(Number)) : []);

/** Whether two orders say the same: those who share a place have no order among themselves. */
export function same(one, other) {
  const plain = (groups) => written(groups.map((group) => [...group].sort((a, b) => a - b)));
  return plain(one) === plain(other);
}

/** The first place in which two orders differ. */
export function difference(one, other) {
  const at = one.findIndex((group, place) => !other[place] || !same([group], [other[place]]));
  return at < 0 ? one.length : at;
}

/** The place of a candidate; -1 where it has none. */
export const placeOf = (groups, id) => groups.findIndex((group) => group.includes(id));

/** How many have a place. */
export const ranked = (groups) => groups.reduce((sum, group) => sum + group.length, 0);

/** Without a candidate, and without the place that it leaves empty. */
export function without(groups, id) {
  if (placeOf(groups, id) < 0) return groups;
  return groups.map((group) => group.filter((one) => one !== id)).filter((group) => group.length);
}

/** With a candidate in a place of its own, before the group that is at `before` now. */
export function alone(groups, id, before) {
  const at = placeOf(groups, id);
  if (at >= 0 && groups[at].length === 1 && (before === at || before === at + 1)) return groups;
  return [...without(groups.slice(0, before), id), [id], ...without(groups.slice(before), id)];
}

/** With a candidate beside those of the group that is at `at` now. */
export function beside(groups, id, at) {
  if (!groups[at] || groups[at].includes(id)) return groups;
  return groups
    .map((group, place) => (place === at ? [...group, id] : group.filter((one) => one !== id)))
    .filter((group) => group.length);
}

/** One place up; out of its group first, and from among those without a place to the end. */
export function up(groups, id) {
  const at = placeOf(groups, id);
  if (at < 0) return alone(groups, id, groups.length);
  if (groups[at].length > 1) return alone(groups, id, at);
  return at > 0 ? alone(groups, id, at - 1) : groups;
}

/** One place down; out of its group first. */
export function down(groups, id) {
  const at = placeOf(groups, id);
  if (at < 0) return groups;
  if (groups[at].length > 1) return alone(groups, id, at + 1);
  return at < groups.length - 1 ? alone(groups, id, at + 2) : groups;
}

/** Into the place above; who shares a place already gets one of its own below it. */
export function tie(groups, id) {
  const at = placeOf(groups, id);
  if (at < 0) return groups.length ? beside(groups, id, groups.length - 1) : alone(groups, id, 0);
  if (groups[at].length > 1) return alone(groups, id, at + 1);
  return at > 0 ? beside(groups, id, at - 1) : groups;
}

/** In a place of its own that is the n-th then, counted from 1; past the end is the end. */
export function to(groups, id, n) {
  const rest = without(groups, id);
  const made = alone(rest, id, Math.min(Math.max(n, 1) - 1, rest.length));
  return same(made, groups) ? groups : made;
}

/** Beside those who are in the n-th place now, counted from 1. */
export function toTied(groups, id, n) {
  if (!groups.length) return alone(groups, id, 0);
  return beside(groups, id, Math.min(Math.max(n, 1), groups.length) - 1);
}
