// An element with data-live="/url" takes its content from that address's
// server-sent events, and says "live" to the other modules when it changed.
// Before that it says "fresh": a module that cancels this calls detail.apply
// later. The server ends a stream after some minutes, and the browser comes back.
// A page in the background has no stream: it is renewed when it is seen again.

const slowest = 30_000;

// alike tells whether two nodes differ in their children at most. Whether a
// <details> is open is the reader's choice.
function alike(node, fresh) {
  if (node.nodeName !== fresh.nodeName) return false;
  const [a, b] = [node.cloneNode(false), fresh.cloneNode(false)];
  if (node.nodeName === "DETAILS") a.open = b.open = false;
  return a.isEqualNode(b);
}

// renew makes a node what the fresh one is, and leaves alone what is the same
// in both: a click on a button comes to nothing when that is replaced between
// press and release.
function renew(node, fresh, still) {
  if (node.isEqualNode(fresh)) return;
  if (node.hasChildNodes() && alike(node, fresh)) renewAll(node, fresh, still);
  else node.replaceWith(fresh);
}

const named = (parent) => parent.firstElementChild?.dataset.row !== undefined;

function renewAll(node, fresh, still) {
  if (named(node) && named(fresh)) {
    renewRows(node, fresh, still);
    return;
  }
  const [present, wanted] = [[...node.childNodes], [...fresh.childNodes]];
  wanted.forEach((child, i) => {
    if (i < present.length) renew(present[i], child, still);
    else node.append(child);
  });
  present.slice(wanted.length).forEach((child) => child.remove());
}

const inUse = (row) => row.contains(document.activeElement) || row.querySelector("input:checked");
const rowsOf = (list) => new Map([...list.children].map((row) => [row.dataset.row, row]));

// renewRows pairs rows by their names. What is ticked or has the focus stays,
// though it is listed no longer. While the list is to keep still, only the rows
// that stay are renewed.
function renewRows(list, fresh, still) {
  const wanted = rowsOf(fresh);
  for (const [name, row] of rowsOf(list)) {
    if (wanted.has(name)) renew(row, wanted.get(name), still);
    else if (!still && !inUse(row)) row.remove();
  }
  if (still) return;
  const present = rowsOf(list);
  let at = list.firstElementChild;
  for (const [name, row] of wanted) {
    while (at && !wanted.has(at.dataset.row)) at = at.nextElementSibling;
    if (at?.dataset.row === name) at = at.nextElementSibling;
    else list.insertBefore(present.get(name) ?? row, at);
  }
}

// typing tells whether something in the element is being filled in.
function typing(element) {
  const focused = document.activeElement;
  return element.contains(focused) && focused.matches("select, textarea, input:not([type=checkbox], [type=radio])");
}

function follow(element) {
  let wait = 1000;
  let source;
  let again;
  let held; // what came while something was typed

  const apply = (content, still) => {
    const focused = document.activeElement;
    const href = element.contains(focused) ? focused.getAttribute("href") : null;
    renewAll(element, content, still);
    if (href && !element.contains(document.activeElement)) element.querySelector(`a[href="${CSS.escape(href)}"]`)?.focus();
    element.dispatchEvent(new CustomEvent("live", { bubbles: true }));
  };

  const take = (html) => {
    held = undefined;
    const template = document.createElement("template");
    template.innerHTML = html;
    const parse = () => template.content.cloneNode(true); // what is applied is used up
    const detail = { content: template.content, apply: (still) => apply(parse(), still) };
    if (element.dispatchEvent(new CustomEvent("fresh", { cancelable: true, detail }))) detail.apply(false);
  };

  element.addEventListener("focusout", () => setTimeout(() => {
    if (held !== undefined && !typing(element)) take(held);
  }));

  // tell says that the element is not up to date, and whether it is because the
  // session ended: the answer is then the way to the sign-in page.
  const tell = async () => {
    element.dataset.stale ||= "away";
    try {
      const headers = { Accept: "text/event-stream" };
      const answer = await fetch(element.dataset.live, { method: "HEAD", redirect: "manual", headers });
      if (answer.type === "opaqueredirect") element.dataset.stale = "signed-out";
    } catch {
      // the server does not answer
    }
  };

  const connect = () => {
    if (!element.isConnected) return; // another list took its place
    clearTimeout(again);
    source?.close();
    source = new EventSource(element.dataset.live);
    source.onopen = () => {
      wait = 1000;
      delete element.dataset.stale;
    };
    source.onmessage = (event) => {
      if (typing(element)) held = event.data;
      else take(event.data);
    };
    source.onerror = () => {
      source.close(); // its own next try comes late, or never after an error page
      if (wait > 1000) tell(); // not the first try
      again = setTimeout(connect, wait);
      wait = Math.min(wait * 2, slowest);
    };
  };

  const end = () => {
    clearTimeout(again);
    source?.close();
  };

  document.addEventListener("found", () => {
    if (!element.isConnected) end();
  });
  if (!document.hidden) connect();
  document.addEventListener("visibilitychange", () => (document.hidden ? end() : connect()));
  window.addEventListener("pagehide", end);
  window.addEventListener("pageshow", (event) => {
    if (event.persisted) connect();
  });
}

document.querySelectorAll("[data-live]").forEach(follow);
document.addEventListener("found", (event) => event.target.querySelectorAll("[data-live]").forEach(follow));
