// The menus of the bar are <details>: they open without this. It closes them
// again at Escape, at a click elsewhere, when another opens, and when the focus
// goes on to what is behind it.

const open = () => document.querySelectorAll("details.menu[open]");

document.addEventListener("click", (event) => {
  if (event.target.closest("dialog")) return; // what a menu led to asks something
  for (const menu of open()) if (!menu.contains(event.target)) menu.open = false;
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || document.querySelector("dialog[open]")) return;
  for (const menu of open()) {
    menu.open = false;
    menu.querySelector("summary").focus();
  }
});
document.addEventListener("focusin", (event) => {
  if (event.target.closest("dialog")) return;
  for (const menu of open()) if (!menu.contains(event.target)) menu.open = false;
});

// The current entry of the navigation is in view, however long the list is.
document.querySelector(".side [aria-current]")?.scrollIntoView({ block: "nearest" });
