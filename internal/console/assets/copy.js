// Buttons with data-copy put that text on the clipboard. They are hidden
// where there is no clipboard: without JavaScript, or on plain http.

function reveal(within) {
  if (!navigator.clipboard) return;
  within.querySelectorAll("button[data-copy]").forEach((button) => { button.hidden = false; });
}

reveal(document);
document.addEventListener("live", (event) => reveal(event.target));

document.addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-copy]");
  if (!button || button.role) return; // a second click while it says "Copied"
  const label = [...button.childNodes];
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Not allowed";
  }
  button.setAttribute("role", "status");
  setTimeout(() => {
    button.replaceChildren(...label);
    button.removeAttribute("role");
  }, 2000);
});
