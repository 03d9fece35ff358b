// Says when the report of the form would run next, as its schedule is chosen.
// Without this module the server says so when the form is shown.

const pause = 300; // ms: a time that is being typed is one change
const parts = ["frequency", "day", "time", "timeZone"];

function begin(within) {
  const place = within.querySelector("[data-next]");
  const form = document.getElementById(place?.dataset.form);
  if (!place || !form) return;
  let waiting;
  let asking;

  const show = async () => {
    asking?.abort();
    asking = new AbortController();
    const query = new URLSearchParams(parts.map((name) => [name, form.elements[name].value]));
    if (query.get("frequency") !== "WEEKLY") query.delete("day");
    try {
      const answer = await fetch(`${place.dataset.next}?${query}`, { signal: asking.signal });
      if (answer.ok && !answer.redirected) place.innerHTML = await answer.text();
    } catch (error) {
      if (error.name !== "AbortError") console.warn(error);
    }
  };

  form.addEventListener("input", (event) => {
    if (!parts.includes(event.target.name)) return;
    clearTimeout(waiting);
    waiting = setTimeout(show, pause);
  });
}

begin(document);
document.addEventListener("found", (event) => begin(event.target));
