// Ctrl+K opens a dialog that goes to any page or thing by name or number. Without this
// module the link in the bar leads to a page that does the same.

const pause = 150; // ms: a word that is being typed is one question

let asking;

async function ask(address, query, place) {
  asking?.abort();
  asking = new AbortController();
  try {
    const answer = await fetch(`${address}?${new URLSearchParams({ q: query })}`, { signal: asking.signal });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const found = page.querySelector("[data-found]");
    if (answer.redirected || !found) throw new Error(page.querySelector("main h1")?.textContent ?? "No answer");
    place.replaceChildren(document.adoptNode(found));
    mark(place, 0);
  } catch (error) {
    if (error.name !== "AbortError") place.textContent = "The search did not answer. Try again.";
  }
}

const links = (place) => [...place.querySelectorAll("a")];

function mark(place, at) {
  links(place).forEach((link, i) => link.classList.toggle("chosen", i === at));
  links(place)[at]?.scrollIntoView({ block: "nearest" });
}

function open(address) {
  const dialog = document.createElement("dialog");
  dialog.className = "go-to";
  dialog.setAttribute("aria-label", "Go to");
  const field = document.createElement("input");
  field.type = "search";
  field.maxLength = 200;
  field.placeholder = "Go to a page, rule, channel, report, delivery, event, message or issue";
  field.setAttribute("aria-label", field.placeholder);
  const place = document.createElement("div");
  place.setAttribute("aria-live", "polite");
  dialog.append(field, place);
  document.body.append(dialog);
  let waiting;
  field.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(ask, pause, address, field.value.trim(), place);
  });
  dialog.addEventListener("keydown", (event) => {
    const all = links(place);
    const at = all.findIndex((link) => link.classList.contains("chosen"));
    if (event.key === "ArrowDown") mark(place, Math.min(at + 1, all.length - 1));
    else if (event.key === "ArrowUp") mark(place, Math.max(at - 1, 0));
    else if (event.key === "Enter" && event.target === field) all[at]?.click();
    else return;
    event.preventDefault();
  });
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
  dialog.addEventListener("close", () => dialog.remove());
  dialog.showModal();
  field.focus();
  ask(address, "", place);
}

const link = document.querySelector("a[data-find]");

document.addEventListener("keydown", (event) => {
  if (!link || event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return;
  event.preventDefault();
  if (!document.querySelector("dialog[open]")) open(link.href);
});
link?.addEventListener("click", (event) => {
  if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
  event.preventDefault();
  open(link.href);
});
