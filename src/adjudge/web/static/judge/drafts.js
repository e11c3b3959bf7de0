/** Half-given answers, so that a reload costs nothing: kept for this tab only, by what is compared. */

const PREFIX = "adjudge.draft.";

/** What tells a question from another, also when it is leased anew: what is compared. */
export const pairOf = (question) =>
  JSON.stringify([question.query.url, question.query.text, question.candidate.url, question.candidate.text]);

const nameOf = (question) => PREFIX + pairOf(question);

export function keep(question, draft) {
  try {
    sessionStorage.setItem(nameOf(question), JSON.stringify(draft));
  } catch {
    // A browser that keeps nothing: the answer is still on the page.
  }
}

export function recall(question) {
  try {
    return JSON.parse(sessionStorage.getItem(nameOf(question)));
  } catch {
    return null;
  }
}

export function forget(question) {
  sessionStorage.removeItem(nameOf(question));
}
