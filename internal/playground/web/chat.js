// Shows messages as they arrive; without it the page loads itself again.
const cards = document.querySelector("#cards");
let busy = false, again = false;

async function refresh() {
  if (busy) { again = true; return; }
  busy = true;
  do {
    again = false;
    const answer = await fetch("/cards").catch(() => null);
    if (answer?.ok) cards.innerHTML = await answer.text();
  } while (again);
  busy = false;
}

new EventSource("/live").addEventListener("cards", refresh);
