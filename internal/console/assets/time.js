// Times come as how long ago they were, in UTC on hover, and some as an instant
// or, on the axis of a plot, as a time of day in UTC. Here the first are kept true, and all are in the browser's zone,
// which the foot of the page names.

const refresh = 20_000; // ms; the smallest unit shown is a minute
const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;
const farOff = 30 * day; // as the server has it

const parts = new Intl.DateTimeFormat("en-GB", {
  year: "numeric", month: "2-digit", day: "2-digit",
  hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23", timeZoneName: "short",
});

function partsOf(at) {
  return Object.fromEntries(parts.formatToParts(at).map(({ type, value }) => [type, value]));
}

function units(seconds, unit, name) {
  const n = Math.floor(seconds / unit);
  return `${n} ${name}${n === 1 ? "" : "s"}`;
}

function relative(at) {
  const passed = (Date.now() - at.getTime()) / 1000;
  const far = Math.abs(passed);
  let text;
  if (far < minute) return passed < 0 ? "in a moment" : "just now";
  if (far < hour) text = units(far, minute, "minute");
  else if (far < day) text = units(far, hour, "hour");
  else if (far < farOff) text = units(far, day, "day");
  else {
    const p = partsOf(at);
    return `${p.year}-${p.month}-${p.day}`;
  }
  return passed < 0 ? `in ${text}` : `${text} ago`;
}

function show(element) {
  const at = new Date(element.dateTime ?? element.dataset.at);
  if (Number.isNaN(at.getTime())) return;
  const p = partsOf(at);
  if ("clock" in element.dataset) {
    element.textContent = `${p.hour}:${p.minute}`;
    element.title = `${p.year}-${p.month}-${p.day} ${p.hour}:${p.minute} ${p.timeZoneName}`;
    return;
  }
  const absolute = `${p.year}-${p.month}-${p.day} ${p.hour}:${p.minute}:${p.second} `;
  if ("instant" in element.dataset) {
    const zone = document.createElement("small");
    zone.textContent = p.timeZoneName;
    element.replaceChildren(absolute, zone);
    element.title = element.dateTime;
    return;
  }
  const text = relative(at);
  if (element.textContent !== text) element.textContent = text;
  element.title = absolute + p.timeZoneName;
}

function showAll(within) {
  within.querySelectorAll("time[datetime], text[data-at]").forEach(show);
}

showAll(document);
document.addEventListener("live", (event) => showAll(event.target));
setInterval(() => document.querySelectorAll("time[datetime]:not([data-instant], [data-clock])").forEach(show), refresh);

const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
if (zone) document.querySelectorAll("[data-zone]").forEach((e) => { e.textContent = zone; });
