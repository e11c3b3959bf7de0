/** What is read, seen or opened rather than heard. */

import { say } from "./words.js";

/** An element that shows an item. `name` is what the page calls it, `labelId` the element that says so. */
export function visible(item, { name, labelId, looked, broken, whole }) {
  if (item.kind === "image") return picture(item, { name, broken, whole });
  if (item.kind === "url") return link(item, { name, looked });
  const text = Object.assign(document.createElement("p"), { className: "clip-text", textContent: item.text ?? "", tabIndex: 0 }); // long ones scroll
  text.setAttribute("role", "group");
  text.setAttribute("aria-labelledby", labelId);
  return text;
}

function picture(item, { name, broken, whole }) {
  const image = Object.assign(document.createElement("img"), { src: item.url, alt: say("clip.image", { name }) });
  image.addEventListener("error", broken);
  image.addEventListener("load", whole);
  return image;
}

function link(item, { name, looked }) {
  const address = item.text ?? item.url;
  const safe = /^https?:\/\//i.test(address) ? address : "about:blank";
  const made = Object.assign(document.createElement("a"), { href: safe, target: "_blank", rel: "noopener noreferrer", className: "button" });
  made.textContent = say("clip.open");
  made.setAttribute("aria-label", `${say("clip.open")}: ${name}`);
  made.addEventListener("click", looked);
  return made;
}
