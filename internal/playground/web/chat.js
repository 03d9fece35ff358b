// Shows messages as they arrive; without it the page is reloaded by hand.
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

// A click on a webhook URL selects it, and copies it where the browser lets it.
document.addEventListener("click", (event) => {
  const url = event.target.closest("input.webhook");
  if (!url) return;
  url.select();
  navigator.clipboard?.writeText(url.value).catch(() => {});
});
