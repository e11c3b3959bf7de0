/** Requests to the server: JSON in, JSON out; what fails says whether trying again can help. */

const CSRF = document.querySelector('meta[name="csrf"]')?.content ?? "";
const TIMEOUT_MS = 20_000;

/** A request that did not work. `status` is 0 where no answer came at all; `body` is the answer where it is one of ours. */
export class Failure extends Error {
  constructor(status, message, retryAfter = 0, body = null) {
    super(message);
    this.status = status;
    this.retryAfter = retryAfter;
    this.body = body;
  }

  /** Whether the same request may work later: no connection, a busy server, too many at once. */
  get passes() {
    return this.status === 0 || this.status >= 500 || this.status === 408 || this.status === 429;
  }

  /** Whether this browser is not (or no longer) let in. */
  get locked() {
    return this.status === 401 || this.status === 403;
  }
}

async function failureOf(response) {
  let message = `${response.status} ${response.statusText}`;
  let body = null;
  try {
    body = await response.json();
    message = body.error?.message ?? message;
  } catch {
    // Not one of our own answers: a proxy's page, perhaps. The status says enough.
  }
  return new Failure(response.status, message, Number(response.headers.get("Retry-After")) || 0, body);
}

/** Send a request; resolves to the JSON of the answer. */
export async function call(method, path, body) {
  const headers = { Accept: "application/json", "X-CSRF-Token": CSRF };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const options = { method, headers, credentials: "same-origin", cache: "no-store" };
  if (body !== undefined) options.body = JSON.stringify(body);
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), TIMEOUT_MS);
  try {
    const response = await fetch(path, { ...options, signal: stop.signal });
    if (!response.ok) throw await failureOf(response);
    return response.status === 204 ? null : await response.json();
  } catch (error) {
    throw error instanceof Failure ? error : new Failure(0, String(error?.message ?? error));
  } finally {
    clearTimeout(timer);
  }
}

/** Say goodbye while the page goes away; nobody waits for the answer. */
export function leave(address) {
  const headers = { "X-CSRF-Token": CSRF };
  fetch(`${address}/leave?may_return=true`, { method: "POST", headers, credentials: "same-origin", keepalive: true }).catch(() => {});
}

/** A key that no other answer has; plain http on a local network has no randomUUID. */
export function newKey() {
  if (globalThis.crypto?.randomUUID) return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
