// Shows messages as they arrive, unless one is being read; without it the page
// is reloaded by hand.
const messages = document.querySelector("#messages");

async function refresh() {
  if (messages.querySelector("details[open]")) return;
  const answer = await fetch("messages").catch(() => null);
  if (answer?.ok) messages.innerHTML = await answer.text();
}

new EventSource("live").addEventListener("messages", refresh);
