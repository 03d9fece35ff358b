// A place with data-answer shows what the server answers at that address to the form that
// data-form names, while the form is filled in. data-fields names the fields that count, where
// not all do. data-on="change" waits until a field is left; with data-at-once the server is
// also asked as the page is opened. An answer may have templates for other places, by their
// ids. Without this module the form's buttons ask.

const pause = 300; // ms: a word that is being typed, and ticking a whole group, is one change

// The address of the webhook is a secret: only its host is told.
function typed(form) {
  const all = new URLSearchParams(new FormData(form));
  const address = all.get("webhookUrl") ?? "";
  all.set("webhookUrl", URL.canParse(address) ? new URL(address).origin : "");
  return all;
}

function fill(place, answer) {
  const open = place.querySelector("details")?.open;
  place.innerHTML = answer;
  if (open) place.querySelector("details")?.setAttribute("open", "");
  for (const one of place.querySelectorAll("template")) document.getElementById(one.dataset.for)?.replaceChildren(one.content);
  place.dispatchEvent(new CustomEvent("live", { bubbles: true }));
}

function follow(place) {
  const { answer: address, fields, on = "input", atOnce } = place.dataset;
  const form = document.getElementById(place.dataset.form);
  let waiting;
  let asking;

  const ask = async () => {
    asking?.abort();
    asking = new AbortController();
    const { signal } = asking;
    place.setAttribute("aria-busy", "true");
    try {
      const answer = await fetch(address, { method: "POST", body: typed(form), signal });
      if (answer.ok && !answer.redirected) fill(place, await answer.text());
    } catch (error) {
      if (!signal.aborted) console.warn(error);
    }
    if (!signal.aborted) place.removeAttribute("aria-busy");
  };

  form.addEventListener(on, (event) => {
    if (fields && !fields.split(" ").includes(event.target.name)) return;
    clearTimeout(waiting);
    waiting = setTimeout(ask, pause);
  });
  if (atOnce !== undefined) ask();
}

document.querySelectorAll("[data-answer]").forEach(follow);
document.addEventListener("found", (event) => event.target.querySelectorAll("[data-answer]").forEach(follow));
