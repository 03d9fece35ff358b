// Shows the cards of the events that are ticked in the rule form as they are
// ticked. Without this module the form's button shows them.

const pause = 150; // ms: ticking a whole group is one change

const place = document.querySelector("[data-cards]");
const form = document.getElementById(place?.dataset.form);

if (place && form) {
  let waiting;
  let asking;

  // The address of the webhook is a secret: only its host is asked about.
  const hostOf = (address) => (URL.canParse(address) ? new URL(address).hostname : place.dataset.host);

  const show = async () => {
    asking?.abort();
    asking = new AbortController();
    const typed = new FormData(form);
    const query = new URLSearchParams({ format: typed.get("format") ?? "", host: hostOf(typed.get("webhookUrl") ?? "") });
    typed.getAll("eventTypes").forEach((key) => query.append("eventTypes", key));
    try {
      const answer = await fetch(`${place.dataset.cards}?${query}`, { signal: asking.signal });
      if (answer.ok && !answer.redirected) place.innerHTML = await answer.text();
    } catch (error) {
      if (error.name !== "AbortError") console.warn(error);
    }
  };

  form.addEventListener("change", (event) => {
    // The box that ticks a whole group has no name.
    if (!["", "eventTypes", "format", "webhookUrl"].includes(event.target.name)) return;
    clearTimeout(waiting);
    waiting = setTimeout(show, pause);
  });
  form.querySelector("button[value=show]")?.setAttribute("hidden", "");
}
