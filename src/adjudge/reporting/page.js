/* Tables sort by their headings; the values of figures are read with a mouse, a finger or arrow keys. All of it is extra:
   without this script tables keep their order, and figures show values as tooltips. */

const first = (text) => {
  const found = text.replaceAll(",", "").replaceAll("−", "-").match(/^[^\p{L}\d.+-]*([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)/iu);
  return found && Number.parseFloat(found[1]);
};
const isKnown = (text) => text !== "" && text !== "–";
const collator = new Intl.Collator(document.documentElement.lang, { numeric: true });

/** Compares cells of a column: numbers where it holds numbers, words among them ("never") as the largest. */
function comparison(texts, isText) {
  const numbers = texts.filter((text) => first(text) !== null).length;
  if (numbers === 0 || (isText && numbers < texts.length)) return collator.compare;
  const value = (text) => first(text) ?? Infinity;
  return (a, b) => (value(a) === value(b) ? 0 : value(a) < value(b) ? -1 : 1);
}

function sortable(table) {
  const body = table.tBodies[0], original = [...body.rows], heads = [...table.tHead.rows[0].cells];
  if (original.length < 3) return;
  const sort = (head, column) => {
    const text = (row) => row.cells[column].textContent.trim();
    const compare = comparison(original.map(text).filter(isKnown), head.classList.contains("left"));
    const orders = compare === collator.compare ? ["ascending", "descending"] : ["descending", "ascending"];
    const order = [...orders, null][1 + orders.indexOf(head.getAttribute("aria-sort"))]; // the third press restores
    const sign = order === "descending" ? -1 : 1;
    const rows = order === null ? original : [...original].sort((a, b) => {
      const [one, other] = [text(a), text(b)];
      return isKnown(one) && isKnown(other) ? sign * compare(one, other) : isKnown(other) - isKnown(one);
    });
    heads.forEach((each) => each.removeAttribute("aria-sort"));
    if (order !== null) head.setAttribute("aria-sort", order);
    body.append(...rows);
  };
  heads.forEach((head, column) => {
    if (!head.textContent.trim()) return;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    button.addEventListener("click", () => sort(head, column));
    head.append(button);
  });
}

/** Says where columns of a table are out of sight to the right. */
function scrollable(box) {
  const look = () => box.classList.toggle("more", box.scrollLeft + box.clientWidth < box.scrollWidth - 1);
  box.addEventListener("scroll", look);
  new ResizeObserver(look).observe(box);
}

function readable(figure) {
  const all = [...figure.querySelectorAll(".datum")];
  if (!all.length) return;
  const words = document.createElement("p");
  words.className = "value";
  words.setAttribute("role", "status");
  words.textContent = "Point at a mark, or press the arrow keys, to read its value.";
  figure.querySelector("figcaption").before(words);
  let at = null;
  const show = (mark) => {
    at?.classList.remove("shown");
    at = mark;
    at.classList.add("shown");
    words.textContent = at.querySelector("title").textContent;
  };
  figure.addEventListener("pointerover", (event) => {
    const mark = event.target.closest(".datum");
    if (mark) show(mark);
  });
  figure.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (event.target !== figure || !step) return;
    event.preventDefault();
    const seen = all.filter((mark) => mark.getClientRects().length); // the drawing for narrow pages, or the other one
    show(seen.at((seen.indexOf(at) + (at === null && step < 0 ? 0 : step)) % seen.length));
  });
}

document.querySelectorAll("table").forEach(sortable);
document.querySelectorAll(".scroll").forEach(scrollable);
document.querySelectorAll("figure").forEach(readable);
