// Keys of a list: / goes to its search, j and k to the next and the previous row, x
// ticks the row, Enter opens it, ? lists the keys.

const keys = [
  ["/", "Search or filter the list"], ["j", "Next row"], ["k", "Previous row"], ["x", "Select the row"], ["Enter", "Open the row"],
  ["Esc", "Close what is beside the list"], ["Ctrl K", "Go to anything"], ["?", "Show the keys"],
];

// The first link of a row leads to its page.
const links = () => [...document.querySelectorAll("main .list tbody tr")].map((row) => row.querySelector("th a")).filter(Boolean);

function move(step) {
  const all = links();
  const row = document.activeElement.closest?.(".list tbody tr") ?? document.querySelector("main .list tr:has([aria-current])");
  const at = all.findIndex((link) => row?.contains(link));
  const next = at < 0 ? all[step > 0 ? 0 : all.length - 1] : all[at + step];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
  next?.dispatchEvent(new CustomEvent("row", { bubbles: true }));
}

function help() {
  const dialog = document.createElement("dialog");
  dialog.setAttribute("aria-labelledby", "keys-title");
  dialog.innerHTML = `<h2 id="keys-title">Keys</h2>
    <dl class="keys">${keys.map(([key, what]) => `<dt><kbd>${key}</kbd></dt><dd>${what}</dd>`).join("")}</dl>
    <form method="dialog" class="submit"><button>Close</button></form>`;
  document.body.append(dialog);
  dialog.addEventListener("close", () => dialog.remove());
  dialog.showModal();
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (event.target.closest("select, textarea, dialog, input:not([type=checkbox], [type=radio])")) return;
  switch (event.key) {
    case "/": {
      const field = document.querySelector(".filters [data-search], .filters input:not([type=hidden]), .filters select");
      if (!field) return;
      field.focus();
      field.select?.();
      break;
    }
    case "j": move(1); break;
    case "k": move(-1); break;
    case "x": document.activeElement.closest(".list tbody tr")?.querySelector(".tick input")?.click(); break;
    case "?": help(); break;
    default: return;
  }
  event.preventDefault();
});
