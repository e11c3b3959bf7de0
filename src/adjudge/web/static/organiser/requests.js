/* Talking to the server and to the organiser: requests with the form's token, questions before what cannot be undone. */

const token = document.querySelector('meta[name="csrf"]')?.content ?? "";

/** Send JSON; the answer, true where there is none, or null after telling what went wrong. */
export async function send(method, url, body) {
  try {
    const response = await fetch(url, {
      method,
      headers: { "Content-Type": "application/json", "X-CSRF-Token": token, Accept: "application/json" },
      body: JSON.stringify(body),
    });
    if (response.status === 204) return true;
    const answer = await response.json().catch(() => null);
    if (response.ok) return answer ?? true;
    toast(answer?.error?.message ?? `The server answered ${response.status}.`, "bad");
  } catch {
    toast("The server cannot be reached; nothing was changed.", "bad");
  }
  return null;
}

/** Upload a form with a report of how far it is: `progress(share)`. Resolves to {ok, status, answer}. */
export function upload(method, url, form, progress) {
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    request.open(method, url);
    request.setRequestHeader("X-CSRF-Token", token);
    request.setRequestHeader("Accept", "application/json");
    request.upload.addEventListener("progress", (event) => event.lengthComputable && progress(event.loaded / event.total));
    request.addEventListener("load", () => {
      let answer = null;
      try {
        answer = JSON.parse(request.responseText);
      } catch {
        /* a proxy may answer in its own words */
      }
      resolve({ ok: request.status < 300, status: request.status, answer });
    });
    request.addEventListener("error", () => resolve({ ok: false, status: 0, answer: null }));
    request.send(form);
  });
}

/** A line at the foot of the page that goes away by itself. */
export function toast(text, kind = "good") {
  let place = document.querySelector("#toasts");
  if (place === null) {
    place = document.createElement("div");
    place.id = "toasts";
    place.setAttribute("role", "status");
    document.body.append(place);
  }
  const line = document.createElement("p");
  line.className = `toast ${kind}`;
  line.textContent = text;
  place.append(line);
  setTimeout(() => line.remove(), kind === "bad" ? 9000 : 4000);
}

/** Ask before doing; resolves to whether the answer was yes. */
export function ask(question, yes = "Yes") {
  return new Promise((resolve) => {
    const dialog = document.createElement("dialog");
    dialog.className = "ask";
    dialog.setAttribute("aria-labelledby", "ask-words");
    const words = document.createElement("p");
    words.id = "ask-words";
    words.textContent = question;
    const form = document.createElement("form");
    form.method = "dialog";
    form.className = "buttons";
    for (const [value, text, kind] of [["no", "Not now", ""], ["yes", yes, "primary"]]) {
      const button = document.createElement("button");
      button.value = value;
      button.textContent = text;
      button.className = `button ${kind}`;
      form.append(button);
    }
    dialog.append(words, form);
    document.body.append(dialog);
    dialog.addEventListener("close", () => {
      resolve(dialog.returnValue === "yes");
      dialog.remove();
    });
    dialog.showModal();
  });
}
