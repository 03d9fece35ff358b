// The events of a form: a box for all of a group, presets, a search, and one stop of
// the Tab key for each group, within which the arrow keys move. Without this module
// the boxes of groups and the presets work when the form is sent.

const changed = (box) => {
  for (const type of ["input", "change"]) box.dispatchEvent(new Event(type, { bubbles: true }));
};

// A box for all events of a group ticks and unticks each of them, and shows whether
// all are.
function group(place) {
  const all = place.querySelector("input[data-all]");
  const boxes = [...place.querySelectorAll("input[type=checkbox]")].filter((box) => box !== all);

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
  return show;
}

let shows = [];

const inSight = (box) => !box.closest("[hidden]");

// Of the boxes of a group, the Tab key stops at one.
function oneStop(place) {
  const boxes = () => [...place.querySelectorAll("input[type=checkbox]")].filter(inSight);
  const stopAt = (box) => {
    for (const other of place.querySelectorAll("input[type=checkbox]")) other.tabIndex = other === box ? 0 : -1;
  };
  place.addEventListener("focusin", (event) => stopAt(event.target));
  return () => stopAt(boxes().find((box) => box.tabIndex === 0) ?? boxes()[0]);
}

function arrows(fieldset) {
  fieldset.addEventListener("keydown", (event) => {
    if (!event.target.matches(".groups input") || event.altKey || event.ctrlKey || event.metaKey) return;
    const boxes = [...fieldset.querySelectorAll(".groups input")].filter(inSight);
    const at = boxes.indexOf(event.target);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: boxes.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    boxes[to]?.focus();
  });
}

function presets(fieldset) {
  const boxes = [...fieldset.querySelectorAll(".groups input:not([data-all])")];
  const buttons = [...fieldset.querySelectorAll("button[name=preset]")];
  const keys = (button) => button.dataset.types.split(" ");

  const show = () => {
    const ticked = boxes.filter((box) => box.checked).map((box) => box.value);
    for (const button of buttons) {
      const its = keys(button);
      button.setAttribute("aria-pressed", its.length === ticked.length && its.every((key) => ticked.includes(key)));
    }
  };

  for (const button of buttons) {
    button.addEventListener("click", (event) => {
      event.preventDefault();
      const off = button.getAttribute("aria-pressed") === "true";
      for (const box of boxes) box.checked = !off && keys(button).includes(box.value);
      shows.forEach((again) => again());
      changed(boxes[0]);
    });
  }
  fieldset.addEventListener("change", show);
  show();
}

function search(fieldset, stops) {
  const field = fieldset.querySelector("[data-find-event]");
  const none = fieldset.querySelector("[data-none]");
  const groups = [...fieldset.querySelectorAll(".group")];

  const find = () => {
    const text = field.value.trim().toLowerCase();
    let found = 0;
    for (const one of groups) {
      const whole = one.querySelector("legend").textContent.toLowerCase().includes(text);
      let its = 0;
      for (const label of one.querySelectorAll("label")) {
        const all = label.querySelector("[data-all]");
        label.hidden = text !== "" && (all || !(whole || label.textContent.toLowerCase().includes(text)));
        if (!label.hidden && !all) its++;
      }
      one.hidden = its === 0;
      found += its;
    }
    none.textContent = found === 0 ? "No event has this in its name." : "";
    stops.forEach((again) => again());
  };

  field.addEventListener("input", (event) => { // it is no part of the rule
    event.stopPropagation();
    find();
  });
  field.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && field.value) {
      event.preventDefault();
      field.value = "";
      find();
    } else if (event.key === "Enter" && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      [...fieldset.querySelectorAll(".groups input")].find(inSight)?.focus();
    }
  });
  field.hidden = false;
}

function begin(within) {
  const all = [...within.querySelectorAll("input[data-all]")];
  if (all.length) shows = all.map((one) => group(one.closest("fieldset")));
  for (const fieldset of within.querySelectorAll("fieldset.choices:has([data-all])")) {
    const stops = [...fieldset.querySelectorAll(".group")].map(oneStop);
    stops.forEach((again) => again());
    arrows(fieldset);
    if (!fieldset.matches("[data-events]")) continue;
    presets(fieldset);
    search(fieldset, stops);
    fieldset.querySelector("[data-keys]").hidden = false;
  }
}

begin(document);
document.addEventListener("found", (event) => begin(event.target));
