// Buttons with data-copy put that text on the clipboard, those with data-copy-of the
// text of the element with that id. They are hidden where there is no clipboard:
// without JavaScript, or on plain http.

const buttons = "button:is([data-copy], [data-copy-of])";

function reveal(within) {
  if (!navigator.clipboard) return;
  within.querySelectorAll(buttons).forEach((button) => { button.hidden = false; });
}

reveal(document);
document.addEventListener("live", (event) => reveal(event.target));

document.addEventListener("click", async (event) => {
  const button = event.target.closest(buttons);
  if (!button || button.role) return; // a second click while it says "Copied"
  const label = [...button.childNodes];
  try {
    await navigator.clipboard.writeText(button.dataset.copy ?? document.getElementById(button.dataset.copyOf).textContent);
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
