// An element with data-live="/url" takes its content from that address's
// server-sent events, and says "live" to the other modules when it changed.
// The server ends a stream after some minutes; the browser comes back.

const slowest = 30_000;

// renew makes a node what the fresh one is, and leaves alone what is the same
// in both: a click on a button comes to nothing when that is replaced between
// press and release.
function renew(node, fresh) {
  if (node.isEqualNode(fresh)) return;
  if (node.cloneNode(false).isEqualNode(fresh.cloneNode(false)) && node.hasChildNodes()) renewAll(node, fresh);
  else node.replaceWith(fresh);
}

function renewAll(node, fresh) {
  const [present, wanted] = [[...node.childNodes], [...fresh.childNodes]];
  wanted.forEach((child, i) => {
    if (i < present.length) renew(present[i], child);
    else node.append(child);
  });
  present.slice(wanted.length).forEach((child) => child.remove());
}

function follow(element) {
  let wait = 1000;
  let source;

  const connect = () => {
    source = new EventSource(element.dataset.live);
    source.onopen = () => {
      wait = 1000;
      delete element.dataset.stale;
    };
    source.onmessage = (event) => {
      const focused = document.activeElement;
      if (element.contains(focused) && focused !== element && focused.matches("input, select, textarea")) return;
      const href = element.contains(focused) ? focused.getAttribute("href") : null;
      const fresh = document.createElement("template");
      fresh.innerHTML = event.data;
      renewAll(element, fresh.content);
      if (href && !element.contains(document.activeElement)) element.querySelector(`a[href="${CSS.escape(href)}"]`)?.focus();
      element.dispatchEvent(new CustomEvent("live", { bubbles: true }));
    };
    source.onerror = () => {
      source.close(); // its own next try comes late, or never after an error page
      if (wait > 1000) element.dataset.stale = ""; // not the first try
      setTimeout(connect, wait);
      wait = Math.min(wait * 2, slowest);
    };
  };

  connect();
  window.addEventListener("pagehide", () => source.close());
  window.addEventListener("pageshow", (event) => {
    if (event.persisted) connect();
  });
}

document.querySelectorAll("[data-live]").forEach(follow);
