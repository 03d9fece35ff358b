// A plot says the numbers of the hour under the pointer, and of the one that the arrow
// keys lead to. They are those of the table below it.

const height = 52;
const hourWidth = 8; // in the picture
const minutes = 24 * 60; // that a plot shows

function hoursOf(box) {
  const names = [...box.querySelectorAll("thead th")].slice(1).map((cell) => cell.textContent);
  const width = box.querySelector("svg").viewBox.baseVal.width;
  return [...box.querySelectorAll("tbody tr")].map((row) => ({
    x: Number(row.dataset.x),
    middle: Math.min(Number(row.dataset.x) + hourWidth / 2, width - 1),
    text: `${row.querySelector("th").textContent}: ${[...row.querySelectorAll("td")].map((cell, i) => `${cell.textContent} ${names[i]}`).join(", ")}`,
  })).reverse();
}

function said(box) {
  let place = box.querySelector(".plot-value");
  if (!place) {
    place = document.createElement("p");
    place.className = "plot-value";
    place.setAttribute("role", "status");
    box.querySelector("svg").before(place);
  }
  return place;
}

function show(box, hour) {
  box.querySelector(".here")?.remove();
  said(box).textContent = hour ? hour.text : "";
  if (!hour) return;
  const line = document.createElementNS("http://www.w3.org/2000/svg", "line");
  for (const [name, value] of Object.entries({ class: "here", x1: hour.middle, x2: hour.middle, y1: 0, y2: height })) line.setAttribute(name, value);
  box.querySelector("svg").append(line);
}

// The marks of the axis are at whole hours in UTC: in a zone that is half an hour off they
// move to those before.
function align(box) {
  const lines = box.querySelectorAll("[data-mark]");
  box.querySelectorAll(".axis [data-at]").forEach((mark, i) => {
    const at = new Date(mark.dataset.at);
    const past = at.getMinutes();
    if (!past) return;
    at.setMinutes(0);
    mark.dataset.at = at.toISOString();
    const x = `${parseFloat(mark.getAttribute("x")) - 100 * past / minutes}%`;
    mark.setAttribute("x", x);
    lines[i].setAttribute("x1", x);
    lines[i].setAttribute("x2", x);
  });
}

function begin(within) {
  for (const box of within.querySelectorAll("[data-plot]")) {
    const svg = box.querySelector("svg");
    if (box.querySelector("tbody tr") && !svg.hasAttribute("tabindex")) svg.setAttribute("tabindex", "0");
    align(box);
  }
}

begin(document);
document.addEventListener("live", (event) => begin(event.target));

document.addEventListener("pointermove", (event) => {
  const svg = event.target.closest?.("[data-plot] svg");
  if (!svg) return;
  const area = svg.getBoundingClientRect();
  const x = (event.clientX - area.left) / area.width * svg.viewBox.baseVal.width;
  const box = svg.closest("[data-plot]");
  show(box, hoursOf(box).findLast((hour) => hour.x <= x && x < hour.x + hourWidth));
});
document.addEventListener("pointerout", (event) => {
  const box = event.target.closest?.("[data-plot]");
  if (box && !box.contains(event.relatedTarget)) show(box, null);
});
document.addEventListener("keydown", (event) => {
  const svg = event.target.closest?.("[data-plot] svg");
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!svg || !step) return;
  event.preventDefault();
  const box = svg.closest("[data-plot]");
  const hours = hoursOf(box);
  const at = hours.findIndex((hour) => hour.text === said(box).textContent);
  show(box, hours[at < 0 ? hours.length - 1 : Math.min(Math.max(at + step, 0), hours.length - 1)]);
});
document.addEventListener("focusout", (event) => {
  const box = event.target.closest?.("[data-plot]");
  if (box) show(box, null);
});
