// On wide screens the page of a row opens beside its list. The list keeps its address,
// with that of the page behind "#". On others, and without this module, the link opens
// the page.

const wide = matchMedia("(min-width: 1440px)");
const pause = 120; // ms: of rows that are passed by keys, the last one opens

let panel;
let content;
let address; // of the page beside the list
let base; // what its forms without an action are posted to
let changed = false; // something was typed into a form of it
let asking;
let waiting;

const linkOfRow = () => [...document.querySelectorAll("main .list tbody tr th a")].find((link) => link.pathname === address?.pathname);

function mark() {
  for (const link of document.querySelectorAll("main .list [aria-current]")) link.removeAttribute("aria-current");
  linkOfRow()?.setAttribute("aria-current", "true");
}

function build() {
  panel = document.createElement("aside");
  panel.className = "detail";
  panel.tabIndex = -1;
  panel.setAttribute("aria-labelledby", "detail-title");
  const bar = document.createElement("p");
  bar.className = "detail-bar";
  const page = document.createElement("a");
  page.textContent = "Open as a page";
  const end = document.createElement("button");
  end.type = "button";
  end.className = "small";
  end.textContent = "Close";
  end.title = "Close (Escape)";
  end.addEventListener("click", leave);
  bar.append(page, end);
  content = document.createElement("div");
  content.className = "detail-page";
  panel.append(bar, content);
  content.addEventListener("input", () => { changed = true; });
  content.addEventListener("submit", send);
  content.addEventListener("click", stay);
  document.querySelector(".frame").append(panel);
}

function show(page, answered) {
  const main = page.querySelector("main");
  main.querySelectorAll("link, script, .title .up").forEach((element) => element.remove());
  main.querySelector("h1").id = "detail-title";
  if (!panel) build();
  content.replaceChildren(...main.childNodes);
  panel.querySelector(".detail-bar a").href = address;
  panel.scrollTop = 0;
  base = answered;
  changed = false;
  for (const name of ["found", "live"]) content.dispatchEvent(new CustomEvent(name, { bubbles: true }));
  mark();
}

// ask returns the answer with its page, or leads to where the browser gets it itself.
async function ask(to, options) {
  clearTimeout(waiting);
  asking?.abort();
  asking = new AbortController();
  panel?.setAttribute("aria-busy", "true");
  try {
    const answer = await fetch(to, { signal: asking.signal, ...options });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (!page.querySelector("nav.side") || !page.querySelector("main h1")) throw new Error("no page of the console");
    panel?.removeAttribute("aria-busy");
    return { answer, page };
  } catch (error) {
    if (error.name !== "AbortError") location.assign(address);
    return {};
  }
}

async function open(to) {
  address = new URL(to);
  const { answer, page } = await ask(address);
  if (!page) return;
  if (answer.redirected) address = new URL(answer.url);
  show(page, answer.url);
}

const named = (url) => `#${url.pathname}${url.search}`;

function close() {
  clearTimeout(waiting);
  asking?.abort();
  if (panel?.contains(document.activeElement)) linkOfRow()?.focus();
  address = undefined;
  changed = false;
  content?.replaceChildren();
  content?.dispatchEvent(new CustomEvent("found", { bubbles: true })); // its streams end
  panel?.remove();
  panel = undefined;
  mark();
}

// kept asks before something that was typed is lost, and calls go where it may be.
function kept(go) {
  if (!changed) {
    go();
    return;
  }
  const dialog = document.createElement("dialog");
  dialog.setAttribute("aria-label", "Discard what you changed?");
  dialog.innerHTML = `<h2>Discard what you changed?</h2><p>The form beside the list is not saved.</p>
    <form method="dialog" class="submit"><button value="go" class="danger">Discard changes</button><button autofocus>Keep editing</button></form>`;
  document.body.append(dialog);
  dialog.addEventListener("close", () => {
    dialog.remove();
    if (dialog.returnValue === "go") go();
  });
  dialog.showModal();
}

function leave() {
  kept(() => {
    close();
    history.pushState(null, "", location.pathname + location.search);
  });
}

// send posts a form of the page: what answers is shown, or is the list anew.
async function send(event) {
  const form = event.target;
  if (event.defaultPrevented || form.method !== "post" || form.enctype === "multipart/form-data") return;
  event.preventDefault();
  if (panel.hasAttribute("aria-busy")) return;
  const to = new URL(event.submitter?.getAttribute("formaction") ?? form.getAttribute("action") ?? "", base);
  const body = new URLSearchParams(new FormData(form, event.submitter));
  form.closest("dialog")?.close();
  const { answer, page } = await ask(to, { method: "POST", body });
  if (!page) return;
  const at = new URL(answer.url);
  if (at.pathname === location.pathname) {
    renewAll(page, at);
    return;
  }
  if (answer.redirected) {
    address = at;
    history.replaceState(null, "", named(at));
  }
  show(page, answer.url);
  (content.querySelector("[autofocus]") ?? panel).focus();
  if (to.hash) reveal(to.hash);
  document.dispatchEvent(new CustomEvent("outdated"));
}

function renewAll(page, at) {
  close();
  const main = document.querySelector("main");
  main.replaceChildren(...page.querySelector("main").childNodes);
  history.pushState(null, "", at);
  for (const name of ["found", "live"]) main.dispatchEvent(new CustomEvent(name, { bubbles: true }));
  main.focus();
}

function reveal(hash) {
  const target = content.querySelector(`#${CSS.escape(decodeURIComponent(hash.slice(1)))}`);
  for (let at = target; at && at !== content; at = at.parentElement) if (at.matches("details")) at.open = true;
  target?.scrollIntoView();
  target?.focus();
}

const plain = (event) => event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey && !event.defaultPrevented;

// stay keeps what leads within the page beside the list.
function stay(event) {
  const link = event.target.closest("a[href]");
  if (!link || !plain(event) || link.matches("[data-confirm], [download], [target]")) return;
  const href = link.getAttribute("href");
  if (href.startsWith("#")) {
    event.preventDefault();
    reveal(href);
  } else if (link.pathname === address.pathname) {
    event.preventDefault();
    open(link.href).then(() => panel?.focus());
  }
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("main .list tbody th a");
  if (!link || !wide.matches || !plain(event) || link.matches("[data-confirm]")) return;
  event.preventDefault();
  kept(async () => {
    history.pushState(null, "", named(link));
    await open(link.href);
    panel?.focus();
  });
});
document.addEventListener("row", (event) => {
  if (!panel || changed) return;
  clearTimeout(waiting);
  waiting = setTimeout(() => {
    history.replaceState(null, "", named(event.target));
    open(event.target.href);
  }, pause);
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || !panel || event.defaultPrevented || document.querySelector("dialog[open], details.menu[open]")) return;
  if (!event.target.matches("input[type=search]") || event.target.value === "") leave();
});
document.addEventListener("live", mark); // the list has other rows

// The address says what is beside the list.
function follow() {
  const { hash } = location;
  if (hash === "" && address) close();
  if (!hash.startsWith("#/") || !document.querySelector("main .list")) return;
  const to = new URL(hash.slice(1), location.origin);
  if (to.origin !== location.origin || to.href === address?.href) return;
  if (wide.matches || panel) open(to);
  else location.replace(to);
}

follow();
window.addEventListener("popstate", follow);
