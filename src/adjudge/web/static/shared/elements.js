/** Elements made by scripts. */

const SVG = "http://www.w3.org/2000/svg";

/** An element with properties and children. */
export function made(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

/** An SVG element with attributes, children and, where a child is a string, text. */
export function svg(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

/** An HTML element; `on…` attributes are listeners, true is an attribute without value, null and false are left out. */
export function html(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** What a button that plays shows: a ring that fills (its `value`), and what a press does. */
export function ring() {
  const value = svg("circle", { class: "ring-value", cx: 50, cy: 50, r: 45, pathLength: 100 });
  const picture = svg(
    "svg",
    { class: "ring", viewBox: "0 0 100 100", "aria-hidden": "true", focusable: "false" },
    svg("circle", { class: "ring-track", cx: 50, cy: 50, r: 45 }),
    value,
    svg("path", { class: "icon-play", d: "M41 33.5v33l27-16.5z" }),
    svg("path", { class: "icon-pause", d: "M40 36v28M60 36v28" }),
  );
  return { picture, value };
}
