// Finds projects, repositories, users, groups and channels while one types, and offers them in
// a list below the field. Without this module, and where the platform does not answer,
// they are typed.

const pause = 200; // ms: a word that is being typed is asked for once

let form;
const names = { projects: "projects", repositories: "repositories", users: "users", groups: "groups", channels: "channels" };

function make(name, attributes, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

const typed = (name, stored) => form.elements[name]?.value?.trim() || stored || "";

async function find(kind, text, signal) {
  const query = new URLSearchParams({
    kind, text, connection: typed("connection", form.dataset.connection),
    project: typed("projectKey", form.dataset.project), repository: typed("repositoryKey", form.dataset.repository),
  });
  const answer = await fetch(`${form.dataset.choices}?${query}`, { signal, headers: { Accept: "application/json" } });
  if (answer.status === 429) return { found: [], note: "You have searched too often. Type the name." };
  if (!answer.ok || answer.redirected) return { found: [], note: "" };
  return answer.json();
}

// Offers what is found for a field of one line; take gets what is chosen.
function combobox(field, kind, take) {
  const list = make("ul", { id: `${field.id}-found`, role: "listbox", "aria-label": `Found ${names[kind]}`, class: "found", hidden: "" });
  const note = make("p", { class: "found-note", role: "status" });
  field.after(list, note);
  for (const [key, value] of [["role", "combobox"], ["aria-autocomplete", "list"], ["aria-expanded", "false"], ["aria-controls", list.id]]) field.setAttribute(key, value);
  let waiting;
  let asking;
  let at = -1;

  const close = () => {
    clearTimeout(waiting);
    asking?.abort();
    list.hidden = true;
    at = -1;
    field.setAttribute("aria-expanded", "false");
    field.removeAttribute("aria-activedescendant");
  };
  const mark = (to) => {
    const options = list.children;
    if (options.length === 0) return;
    options[at]?.setAttribute("aria-selected", "false");
    at = (to + options.length) % options.length;
    options[at].setAttribute("aria-selected", "true");
    options[at].scrollIntoView({ block: "nearest" });
    field.setAttribute("aria-activedescendant", options[at].id);
  };
  const choose = (option) => {
    take(option.dataset.value);
    note.textContent = "";
    close();
  };
  const show = ({ found, more, note: said }) => {
    list.replaceChildren(...found.map(({ value, label }, i) => make(
      "li", { id: `${list.id}-${i}`, role: "option", "aria-selected": "false", "data-value": value },
      make("bdi", { class: "mono" }, value), ...(label ? [" ", make("bdi", { class: "quiet" }, label)] : []),
    )));
    at = -1;
    list.hidden = found.length === 0;
    field.setAttribute("aria-expanded", String(!list.hidden));
    field.removeAttribute("aria-activedescendant");
    note.textContent = said || (more ? `The first ${found.length} are shown. Type more to narrow them down.` : "");
  };
  const ask = async () => {
    asking?.abort();
    asking = new AbortController();
    const { signal } = asking;
    try {
      const answer = await find(kind, field.value.trim(), signal);
      if (!signal.aborted && document.activeElement === field) show(answer);
    } catch (error) {
      if (error.name !== "AbortError") note.textContent = "The search does not answer. Type the name.";
    }
  };
  const soon = () => {
    clearTimeout(waiting);
    waiting = setTimeout(ask, pause);
  };

  field.addEventListener("input", (event) => {
    if (event.isTrusted) soon();
  });
  field.addEventListener("blur", () => {
    close();
    note.textContent = "";
  });
  field.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.key === "Enter" && at >= 0) choose(list.children[at]);
    else if (event.key === "Enter" && !field.name) take(field.value.trim()); // one to add
    else if (event.key === "ArrowDown" && list.hidden) ask();
    else if (event.key === "ArrowDown") mark(at + 1);
    else if (event.key === "ArrowUp" && !list.hidden) mark(at < 0 ? -1 : at - 1);
    else if (event.key === "Escape" && !list.hidden) close();
    else return;
    event.preventDefault();
  });
  list.addEventListener("mousedown", (event) => event.preventDefault()); // the field keeps the focus
  list.addEventListener("click", (event) => {
    const option = event.target.closest("[role=option]");
    if (option) choose(option);
  });
}

function fill(field, value) {
  field.value = value;
  for (const type of ["input", "change"]) field.dispatchEvent(new Event(type, { bubbles: true }));
}

// A list gets a field above it, which searches and adds.
function adder(area, kind) {
  const label = area.closest(".field").querySelector("label").firstChild.textContent.trim();
  const field = make("input", {
    type: "text", id: `${area.id}-find`, "aria-label": `${label}: search and add`, placeholder: `Search ${names[kind]} to add`,
    autocomplete: "off", spellcheck: "false", autocapitalize: "none", maxlength: "255", class: "find",
  });
  area.before(field);
  field.addEventListener("input", (event) => event.stopPropagation()); // it is no part of the rule
  combobox(field, kind, (value) => {
    field.value = "";
    if (!value) return;
    const lines = area.value.split("\n").map((line) => line.trim()).filter(Boolean);
    if (!lines.some((line) => line.toLowerCase() === value.toLowerCase())) lines.push(value);
    fill(area, lines.join("\n") + "\n");
  });
}

function begin(within) {
  form = within.querySelector("form[data-choices]") ?? form;
  for (const place of within.querySelectorAll("form[data-choices] [data-kind]")) {
    const field = place.querySelector("textarea, input");
    const { kind } = place.dataset;
    if (field.matches("textarea")) {
      adder(field, kind);
      continue;
    }
    combobox(field, kind, (value) => {
      const [project, slug] = value.split("/");
      if (place.dataset.part !== "slug") return fill(field, value);
      const key = form.elements.projectKey;
      if (key && !key.value.trim()) fill(key, project);
      return fill(field, slug);
    });
  }
}

begin(document);
document.addEventListener("found", (event) => begin(event.target));
