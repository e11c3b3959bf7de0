/** Clips fetched ahead of time, whole, so that the next question starts at once and also without a connection. */

const LARGEST = 40 * 1024 * 1024;

export class Library {
  #shelf = new Map(); // address -> { source, loaded }

  /** Fetch a clip ahead of its question; resolves to whether it is here. */
  fetch(address) {
    const known = this.#shelf.get(address);
    if (known) return known.loaded;
    const entry = { source: null };
    this.#shelf.set(address, entry);
    entry.loaded = this.#load(address, entry).then(
      () => true,
      () => !this.#shelf.delete(address), // it is then streamed, or tried again
    );
    return entry.loaded;
  }

  async #load(address, entry) {
    const response = await fetch(address, { credentials: "same-origin" });
    const size = Number(response.headers.get("Content-Length"));
    if (!response.ok || size > LARGEST) throw new Error(`${address}: ${response.status}, ${size} bytes`);
    const clip = await response.blob();
    if (this.#shelf.get(address) === entry) entry.source = URL.createObjectURL(clip);
  }

  /** What a player plays: the clip in memory, else its address. */
  source(address) {
    return this.#shelf.get(address)?.source ?? address;
  }

  /** Let go of every clip but these. */
  keepOnly(addresses) {
    for (const [address, entry] of this.#shelf) {
      if (addresses.includes(address)) continue;
      if (entry.source) URL.revokeObjectURL(entry.source);
      this.#shelf.delete(address);
    }
  }
}
