// Shows the cards of the events that are ticked in the rule form as they are
// ticked. Without this module the form's button shows them.

const pause = 150; // ms: ticking a whole group is one change

function begin(within) {
  const place = within.querySelector("[data-cards]");
  const form = document.getElementById(place?.dataset.form);
  if (!place || !form) return;
  let waiting;
  let asking;

  // The address of the webhook is a secret: only its host is asked about. A channel
  // that is chosen anew is chosen with its own format.
  const aimOf = (typed) => {
    const address = typed.get("webhookUrl") ?? "";
    const format = typed.get("format") ?? "";
    if (URL.canParse(address)) return { format, host: new URL(address).hostname };
    const stored = place.dataset.channel;
    const channel = typed.get("channel") || stored;
    return { format: channel === stored ? format : "auto", channel };
  };

  const show = async () => {
    asking?.abort();
    asking = new AbortController();
    const typed = new FormData(form);
    const query = new URLSearchParams(aimOf(typed));
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
    if (!["", "eventTypes", "format", "webhookUrl", "channel"].includes(event.target.name)) return;
    clearTimeout(waiting);
    waiting = setTimeout(show, pause);
  });
  form.querySelector("button[value=show]")?.setAttribute("hidden", "");
}

begin(document);
document.addEventListener("found", (event) => begin(event.target));
