// Offers to tick every row of the page at once, and says how many are ticked.
// Without this module each is ticked by itself.

const boxes = () => [...document.querySelectorAll('.tick input[name="id"]')];

function follow() {
  const ticked = boxes().filter((one) => one.checked).length;
  const all = document.querySelector("[data-select-all]");
  if (all) {
    const box = all.querySelector("input");
    all.hidden = boxes().length === 0;
    box.checked = ticked > 0 && ticked === boxes().length;
    box.indeterminate = ticked > 0 && !box.checked;
  }
  for (const bar of document.querySelectorAll("[data-bar]")) {
    bar.querySelector("[data-selected]").textContent = ticked ? `${ticked} ${ticked === 1 ? bar.dataset.singular : bar.dataset.plural} selected` : "";
  }
}

document.addEventListener("change", (event) => {
  if (event.target.closest("[data-select-all]")) {
    boxes().forEach((one) => { one.checked = event.target.checked; });
    boxes()[0]?.dispatchEvent(new Event("change", { bubbles: true })); // for what follows the list
  } else if (event.target.name === "id") follow();
});
document.addEventListener("reset", () => setTimeout(() => {
  follow();
  document.querySelector("[data-results]")?.dispatchEvent(new Event("change", { bubbles: true }));
}));
document.addEventListener("live", follow); // the list has other rows
follow(); // the browser keeps boxes ticked when one comes back
