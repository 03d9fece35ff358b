// Offers to tick every delivery of the page at once. Without this module each is
// ticked by itself.

const all = document.querySelector("[data-select-all]");
const boxes = () => document.querySelectorAll('.pick input[name="id"]');

if (all) {
  const box = all.querySelector("input");
  const follow = () => {
    const ticked = [...boxes()].filter((one) => one.checked).length;
    box.checked = ticked > 0 && ticked === boxes().length;
    box.indeterminate = ticked > 0 && !box.checked;
  };
  all.hidden = false;
  box.addEventListener("change", () => boxes().forEach((one) => { one.checked = box.checked; }));
  document.addEventListener("change", (event) => { if (event.target.name === "id") follow(); });
  follow(); // the browser keeps boxes ticked when one comes back
}
