// Offers to tick every row of the page at once. Without this module each is
// ticked by itself.

const all = document.querySelector("[data-select-all]");
const boxes = () => [...document.querySelectorAll('.pick input[name="id"]')];

if (all) {
  const box = all.querySelector("input");
  const follow = () => {
    const ticked = boxes().filter((one) => one.checked).length;
    all.hidden = boxes().length === 0;
    box.checked = ticked > 0 && ticked === boxes().length;
    box.indeterminate = ticked > 0 && !box.checked;
  };
  box.addEventListener("change", () => {
    boxes().forEach((one) => { one.checked = box.checked; });
    boxes()[0]?.dispatchEvent(new Event("change", { bubbles: true })); // for what follows the list
  });
  document.addEventListener("change", (event) => { if (event.target.name === "id") follow(); });
  document.addEventListener("live", follow); // the list has other rows
  follow(); // the browser keeps boxes ticked when one comes back
}
