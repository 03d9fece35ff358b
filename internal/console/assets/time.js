// Times come in UTC and say so; here they are shown in the browser's zone,
// which the foot of the page names.

const parts = new Intl.DateTimeFormat("en-GB", {
  year: "numeric", month: "2-digit", day: "2-digit",
  hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23", timeZoneName: "short",
});

function show(element) {
  const at = new Date(element.dateTime);
  if (Number.isNaN(at.getTime())) return;
  const p = Object.fromEntries(parts.formatToParts(at).map(({ type, value }) => [type, value]));
  const zone = document.createElement("small");
  zone.textContent = p.timeZoneName;
  element.replaceChildren(`${p.year}-${p.month}-${p.day} ${p.hour}:${p.minute}:${p.second} `, zone);
  element.title = element.dateTime;
}

function showAll(within) {
  within.querySelectorAll("time[datetime]").forEach(show);
}

showAll(document);
document.addEventListener("live", (event) => showAll(event.target));

const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
if (zone) document.querySelectorAll("[data-zone]").forEach((e) => { e.textContent = zone; });
