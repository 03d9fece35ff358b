// Ctrl+K opens a dialog that goes to any page or thing by name or number. Without this
// module the link in the bar leads to a page that does the same.

const pause = 150; // ms: a word that is being typed is one question

let asking;

async function ask(address, query, { field, place, status }) {
  asking?.abort();
  asking = new AbortController();
  try {
    const answer = await fetch(`${address}?${new URLSearchParams({ q: query })}`, { signal: asking.signal });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const found = page.querySelector("[data-found]");
    if (answer.redirected || !found) throw new Error(page.querySelector("main h1")?.textContent ?? "No answer");
    place.replaceChildren(document.adoptNode(found));
  } catch (error) {
    if (error.name === "AbortError") return;
    place.textContent = "The search did not answer. Try again.";
  }
  offer(field, place);
  const count = options(place).length;
  status.textContent = count === 0 ? place.textContent.trim() : `${count} ${count === 1 ? "result" : "results"}`;
}

function make(name, attributes) {
  const element = document.createElement(name);
  set(element, attributes);
  return element;
}

function set(element, attributes) {
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
}

const options = (place) => [...place.querySelectorAll("a")];
const marked = (place) => options(place).findIndex((option) => option.getAttribute("aria-selected") === "true");

// Makes the links that were found the options of the field, and marks the first.
function offer(field, place) {
  const all = options(place);
  for (const list of place.querySelectorAll("ul")) set(list, { id: "places", role: "listbox", "aria-label": "Results" });
  for (const item of place.querySelectorAll("li")) set(item, { role: "presentation" });
  all.forEach((option, i) => set(option, { id: `place-${i}`, role: "option", tabindex: -1 }));
  set(field, { "aria-expanded": all.length > 0 });
  mark(field, place, 0);
}

function mark(field, place, at) {
  const all = options(place);
  all.forEach((option, i) => set(option, { "aria-selected": i === at }));
  field.removeAttribute("aria-activedescendant");
  if (!all[at]) return;
  set(field, { "aria-activedescendant": all[at].id });
  all[at].scrollIntoView({ block: "nearest" });
}

function open(address) {
  const dialog = make("dialog", { class: "go-to", "aria-label": "Go to" });
  const words = "Go to a page, rule, channel, report, delivery, event, message or issue";
  const field = make("input", {
    type: "text", maxlength: 200, placeholder: words, "aria-label": words, autocomplete: "off", spellcheck: "false",
    role: "combobox", "aria-autocomplete": "list", "aria-controls": "places", "aria-expanded": "false",
  });
  const place = make("div", {});
  const status = make("p", { class: "unseen", role: "status" });
  dialog.append(field, place, status);
  document.body.append(dialog);
  const parts = { field, place, status };
  let waiting;
  field.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(ask, pause, address, field.value.trim(), parts);
  });
  field.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    const [at, last] = [marked(place), options(place).length - 1];
    if (event.key === "ArrowDown") mark(field, place, Math.min(at + 1, last));
    else if (event.key === "ArrowUp") mark(field, place, Math.max(at - 1, 0));
    else if (event.key === "Enter") options(place)[at]?.click();
    else return;
    event.preventDefault();
  });
  place.addEventListener("mousedown", (event) => event.preventDefault()); // the field keeps the focus
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
  dialog.addEventListener("close", () => dialog.remove());
  dialog.showModal();
  field.focus();
  ask(address, "", parts);
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
