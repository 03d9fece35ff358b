// A list's filters apply as they are chosen, and stand in the address. What is
// found takes the place of the element with data-results; the filters stay, with what
// is being typed. Without this module their form has a button.

const pause = 250; // ms: a word that is being typed is one change

let asking;
let waiting;

function addressOf(form) {
  const chosen = new URLSearchParams([...new FormData(form)].filter(([, value]) => value !== ""));
  const query = chosen.toString();
  return form.action.split("?")[0] + (query && `?${query}`);
}

async function load(address) {
  asking?.abort();
  asking = new AbortController();
  try {
    const answer = await fetch(address, { signal: asking.signal });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const found = page.querySelector("[data-results]");
    const shown = document.querySelector("[data-results]");
    if (!answer.ok || answer.redirected || !found || !shown) throw new Error("no results");
    shown.replaceWith(document.adoptNode(found));
    history.replaceState(null, "", address + location.hash);
    found.dispatchEvent(new CustomEvent("found", { bubbles: true }));
    found.dispatchEvent(new CustomEvent("live", { bubbles: true }));
  } catch (error) {
    if (error.name !== "AbortError") location.assign(address);
  }
}

function apply(form) {
  form.querySelectorAll("select").forEach((select) => select.classList.toggle("chosen", select.value !== ""));
  return load(addressOf(form));
}

// What was done beside the list shows in it; a live list follows by itself.
document.addEventListener("outdated", () => {
  if (document.querySelector("[data-results]:not(:has([data-live]))")) load(location.pathname + location.search);
});
document.addEventListener("change", (event) => {
  const form = event.target.closest("form.applies");
  if (form) apply(form);
});
document.addEventListener("input", (event) => {
  const form = event.target.matches("input") && event.target.closest("form.applies");
  if (!form) return;
  clearTimeout(waiting);
  waiting = setTimeout(apply, pause, form);
});
document.addEventListener("submit", (event) => {
  if (!event.target.matches("form.applies")) return;
  event.preventDefault();
  clearTimeout(waiting);
  apply(event.target);
});
