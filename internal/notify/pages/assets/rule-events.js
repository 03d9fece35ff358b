// A box for all events of a group ticks and unticks each of them, and shows
// whether all are. Without this module the server does so when the form is sent.

for (const all of document.querySelectorAll("input[data-all]")) {
  const boxes = [...all.closest("fieldset").querySelectorAll("input[type=checkbox]")].filter((box) => box !== all);

  const show = () => {
    const ticked = boxes.filter((box) => box.checked).length;
    all.checked = ticked === boxes.length;
    all.indeterminate = ticked > 0 && !all.checked;
  };

  all.addEventListener("change", () => {
    for (const box of boxes) box.checked = all.checked;
  });
  for (const box of boxes) box.addEventListener("change", show);
  show();
}
