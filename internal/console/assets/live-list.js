// A list with data-live-list="delivery deliveries" takes new rows as they come,
// but not under the reader's hands: while the pointer or the focus is in it,
// something is ticked, or its beginning is out of view, it says how many there are
// instead, and keeps still until they are asked for or the reader has left. What
// is said to screen readers is that number.

const sayEvery = 10_000; // ms: a busy list would not stop talking

const hovers = matchMedia("(hover: hover)");

function busy(list) {
  return (hovers.matches && list.matches(":hover")) || list.contains(document.activeElement) ||
    list.querySelector("input:checked") || list.getBoundingClientRect().top < 0;
}

const namesOf = (within) => [...within.querySelectorAll("[data-row]")].map((row) => row.dataset.row);

// newIn lists the rows that are not in the list yet. Below its last row there are
// only older ones, which come up when others leave.
function newIn(list, content) {
  const shown = new Set(namesOf(list));
  const names = namesOf(content);
  const last = names.findLastIndex((name) => shown.has(name));
  return names.slice(0, last < 0 ? names.length : last).filter((name) => !shown.has(name));
}

function watch(list, news) {
  const [on, button, status] = [news.querySelector("[data-live-on]"), news.querySelector("button"), news.querySelector("[role=status]")];
  const [one, many] = list.dataset.liveList.split(" ");
  let waiting; // what came while the list was in use
  let known = new Set(namesOf(list));
  let unsaid = 0;
  let pause;

  const counted = (n, all) => `${n}${all ? "+" : ""} new ${n === 1 && !all ? one : many}`;

  const say = () => {
    clearTimeout(pause);
    pause = undefined;
    if (!unsaid) return;
    status.textContent = counted(unsaid);
    unsaid = 0;
    pause = setTimeout(say, sayEvery);
  };

  const show = () => {
    const detail = waiting;
    waiting = undefined;
    button.hidden = true;
    detail?.apply(false);
  };

  const settle = () => {
    if (!list.isConnected) return;
    if (waiting && !busy(list)) show();
  };

  list.addEventListener("fresh", (event) => {
    const { content, apply } = event.detail;
    const fresh = newIn(list, content);
    const names = namesOf(content);
    unsaid += fresh.filter((name) => !known.has(name)).length;
    known = new Set([...names, ...namesOf(list)]);
    if (!pause) say();
    const gone = namesOf(list).some((name) => !names.includes(name));
    if ((!fresh.length && !gone) || !busy(list) || !list.querySelector("[data-row]")) {
      waiting = undefined;
      button.hidden = true;
      return; // as it is: nothing moves, or no one is hindered
    }
    event.preventDefault();
    waiting = event.detail;
    button.textContent = fresh.length ? `${counted(fresh.length, fresh.length === names.length)} – show` : "The list changed – show";
    button.hidden = false;
    if (names.length) apply(true); // else the table would go
  });
  list.addEventListener("live", () => { on.hidden = false; });

  button.addEventListener("click", (event) => {
    show();
    if (list.getBoundingClientRect().top < 0) list.scrollIntoView();
    if (event.detail === 0) list.querySelector("[data-row] a")?.focus(); // by the keyboard
  });
  list.addEventListener("pointerleave", settle);
  list.addEventListener("change", settle);
  list.addEventListener("focusout", () => setTimeout(settle));
  document.addEventListener("scrollend", settle);
}

function begin(within) {
  const news = within.querySelector("[data-live-news]");
  const list = within.querySelector("[data-live-list]");
  if (news && list) watch(list, news);
}

begin(document);
document.addEventListener("found", (event) => begin(event.target));
