// Shows one item after the other, and a button for each step of the scale.
const headers = { "Content-Type": "application/json", "X-CSRF-Token": document.querySelector("meta[name=csrf]").content };

async function send(question, rating) {
  const body = JSON.stringify({ key: crypto.randomUUID(), lease: question.lease, rating });
  const response = await fetch("/api/rating/answers", { method: "POST", headers, body });
  show((await response.json()).desk);
}

function show({ question, maximum, answered }) {
  document.getElementById("item").textContent = question ? question.item.text : `Thank you: ${answered} rated.`;
  const steps = question ? Array.from({ length: maximum }, (_, step) => step + 1) : [];
  const buttons = steps.map((rating) => {
    const button = document.createElement("button");
    button.className = "button";
    button.textContent = rating;
    button.onclick = () => send(question, rating);
    return button;
  });
  document.getElementById("scale").replaceChildren(...buttons);
}

show(await (await fetch("/api/rating")).json());
