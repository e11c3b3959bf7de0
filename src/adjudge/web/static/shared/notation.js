/** Notation: a drawing on the page, with the notes lit up that sound. */

const KEPT = 400; // drawings; each is some kilobytes
const answers = new Map(); // address of a drawing -> promise of what the server has there
let made = 0;

/** Whether an item has a clip to listen to. */
export const isHeard = (item) => item.kind === "audio" || item.kind === "notation";

/** Fetch a drawing, once an address; resolves to its picture and its notes. What failed is tried again the next time. */
export function fetchDrawing(address) {
  const known = answers.get(address);
  if (known) return known;
  const answer = load(address);
  answers.set(address, answer);
  answer.catch(() => answers.delete(address));
  if (answers.size > KEPT) answers.delete(answers.keys().next().value);
  return answer;
}

async function load(address) {
  const response = await fetch(address, { credentials: "same-origin" });
  if (!response.ok) throw new Error(`${address}: ${response.status}`);
  return response.json();
}

/** The picture as an element of this page; its notes have names that no other drawing's have. */
function pictureOf(svg, name) {
  const parsed = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
  if (parsed.localName !== "svg") throw new Error("not a drawing");
  const picture = document.importNode(parsed, true);
  made += 1;
  const notes = new Map();
  for (const note of picture.querySelectorAll("[id]")) {
    notes.set(note.id, note);
    note.id = `drawing-${made}-${note.id}`;
  }
  picture.classList.add("notation-picture");
  picture.setAttribute("role", "img");
  picture.setAttribute("aria-label", name);
  picture.setAttribute("focusable", "false");
  picture.style.setProperty("--tall", String(parseFloat(picture.getAttribute("height")) || 110)); // for one scale for all
  return { picture, notes };
}

/** Draw an item into a container. `follow(seconds)` lights up what sounds at that moment, `clear()` nothing. */
export async function draw(container, item, { name }) {
  const { svg, notes: times } = await fetchDrawing(item.drawing_url);
  const { picture, notes } = pictureOf(svg, name);
  container.classList.add("notation");
  container.replaceChildren(picture);
  let lit = new Set();
  let from = 0; // the first of the times that may still sound: people mostly listen forwards
  let before = 0;

  function soundingAt(seconds) {
    if (seconds < before) from = 0;
    before = seconds;
    while (from < times.length && times[from][1] <= seconds) from += 1;
    const found = new Set();
    for (let place = from; place < times.length && times[place][0] <= seconds; place += 1) {
      if (times[place][1] > seconds) for (const id of times[place][2]) found.add(notes.get(id));
    }
    found.delete(undefined);
    return found;
  }

  function light(wanted) {
    for (const note of lit) if (!wanted.has(note)) note.classList.remove("sounding");
    for (const note of wanted) if (!lit.has(note)) note.classList.add("sounding");
    lit = wanted;
  }

  return { element: picture, follow: (seconds) => light(soundingAt(seconds)), clear: () => light(new Set()) };
}
