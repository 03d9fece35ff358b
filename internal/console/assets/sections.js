// The sections of a form are <details>: they fold without this. Here one opens
// for the link that leads to it or into it, and for a field that the browser
// refuses; and it says that it was changed, since what it says to be chosen is from
// when the page was made.

function reveal() {
  const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const section = target && target.closest("details.section");
  if (!section || section.open) return;
  section.open = true;
  target.scrollIntoView();
}

reveal();
window.addEventListener("hashchange", reveal);
document.addEventListener("click", (event) => { // also where the address has the hash already
  if (event.target.closest('a[href^="#"]')) setTimeout(reveal);
});

function follow(section) {
  section.addEventListener("invalid", () => { section.open = true; }, true);
  section.addEventListener("input", () => { section.querySelector("summary .chosen").textContent = "changed, not saved yet"; });
}

document.querySelectorAll("details.section").forEach(follow);
document.addEventListener("found", (event) => event.target.querySelectorAll("details.section").forEach(follow));
