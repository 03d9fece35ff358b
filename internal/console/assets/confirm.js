// A link with data-confirm leads to a page that asks before something is
// lost. Here its form comes as a dialog over the page one is on.

document.addEventListener("click", async (event) => {
  const link = event.target.closest("a[data-confirm]");
  if (!link || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
  event.preventDefault();
  try {
    const answer = await fetch(link.href, { credentials: "same-origin" });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const form = page.querySelector("[data-dialog]");
    if (!answer.ok || !form) throw new Error("no confirmation");
    ask(document.adoptNode(form), link.closest(".detail-page") ?? document.body);
  } catch {
    location.assign(link.href);
  }
});

function ask(form, place) {
  const dialog = document.createElement("dialog");
  const title = document.createElement("h2");
  title.id = "dialog-title";
  title.textContent = form.getAttribute("aria-label");
  dialog.setAttribute("aria-labelledby", title.id);
  dialog.append(title, form);
  place.append(dialog);
  dialog.addEventListener("close", () => dialog.remove());
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog || event.target.closest("[data-cancel]")) {
      event.preventDefault();
      dialog.close();
    }
  });
  dialog.showModal();
  dialog.querySelector("[data-cancel]")?.focus();
}
