// Shows what the report of the form would send now. The platform is asked when a field that
// decides on it is left. Without this module the form's button asks.

const pause = 300; // ms: arrows in a number are one change
const members = ["name", "connection", "repository", "inactivityDays", "skipDrafts", "targetBranchMask", "channel", "format", "webhookUrl"];

function begin(within) {
  const place = within.querySelector("[data-preview]");
  const form = document.getElementById(place?.dataset.form);
  if (!place || !form) return;
  let waiting;
  let asking;

  const show = async () => {
    asking?.abort();
    const mine = asking = new AbortController();
    const typed = new URLSearchParams(new FormData(form));
    // The address of the webhook is a secret: only its host is asked about.
    const address = typed.get("webhookUrl") ?? "";
    typed.set("webhookUrl", URL.canParse(address) ? new URL(address).origin : "");
    place.setAttribute("aria-busy", "true");
    try {
      const answer = await fetch(place.dataset.preview, { method: "POST", body: typed, signal: mine.signal });
      if (answer.ok && !answer.redirected) {
        place.innerHTML = await answer.text();
        place.dispatchEvent(new CustomEvent("live", { bubbles: true }));
      }
    } catch (error) {
      if (error.name !== "AbortError") console.warn(error);
    }
    if (asking === mine) place.removeAttribute("aria-busy");
  };

  form.addEventListener("change", (event) => {
    if (!members.includes(event.target.name)) return;
    clearTimeout(waiting);
    waiting = setTimeout(show, pause);
  });
  form.querySelector("button[value=show]")?.parentElement.setAttribute("hidden", "");
  show();
}

begin(document);
document.addEventListener("found", (event) => begin(event.target));
