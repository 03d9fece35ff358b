// The theme that was chosen in this browser goes before the system's. The
// button in the bar goes round: system, light, dark.

const key = "outrigger-theme";
const order = ["system", "light", "dark"];
const root = document.documentElement;

function chosen() {
  try {
    const theme = localStorage.getItem(key);
    return order.includes(theme) ? theme : "system";
  } catch {
    return "system"; // storage is off
  }
}

function apply(theme) {
  if (theme === "system") delete root.dataset.theme;
  else root.dataset.theme = theme;
  const button = document.querySelector("[data-theme-toggle]");
  if (!button) return;
  const next = order[(order.indexOf(theme) + 1) % order.length];
  button.hidden = false;
  button.title = `Theme: ${theme}`;
  button.setAttribute("aria-label", `Theme: ${theme}. Change to ${next}`);
}

apply(chosen());

document.addEventListener("click", (event) => {
  if (!event.target.closest("[data-theme-toggle]")) return;
  const next = order[(order.indexOf(chosen()) + 1) % order.length];
  try {
    localStorage.setItem(key, next);
  } catch {
    // it holds for this page
  }
  apply(next);
});
document.addEventListener("DOMContentLoaded", () => apply(chosen()));
window.addEventListener("storage", (event) => {
  if (event.key === key) apply(chosen());
});
