// Shows threads as they are written, at most twice a second; without it the page
// is reloaded by hand.
const issues = document.querySelector("#issues");
const pause = 500;
let due = null;

async function refresh() {
  due = null;
  const answer = await fetch("issues").catch(() => null);
  if (answer?.ok) issues.innerHTML = await answer.text();
}

new EventSource("live").addEventListener("issues", () => {
  due ??= setTimeout(refresh, pause);
});
