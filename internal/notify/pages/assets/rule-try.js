// Tries the rule of the form on the last events as it is typed. Without this
// module the form's button does so.

const pause = 500; // ms: a word that is being typed is one change

function begin(within) {
  const place = within.querySelector("[data-try]");
  const form = document.getElementById(place?.dataset.form);
  if (!place || !form) return;
  let waiting;
  let asking;

  // How what was typed was understood stands at its field.
  const about = () => {
    const said = new Map([...place.querySelectorAll("template[data-about-field]")].map((one) => [one.dataset.aboutField, one.innerHTML]));
    for (const field of form.querySelectorAll("[data-about]")) {
      let text = field.querySelector(".understood");
      if (!text && !said.has(field.dataset.about)) continue;
      if (!text) {
        text = document.createElement("p");
        text.className = "understood";
        text.setAttribute("role", "status");
        field.append(text);
      }
      text.innerHTML = said.get(field.dataset.about) ?? "";
    }
  };

  const attempt = async () => {
    asking?.abort();
    asking = new AbortController();
    const typed = new URLSearchParams(new FormData(form));
    typed.delete("webhookUrl"); // a secret, and not needed
    try {
      const answer = await fetch(place.dataset.try, { method: "POST", body: typed, signal: asking.signal });
      if (!answer.ok || answer.redirected) return;
      const open = place.querySelector("details")?.open;
      place.innerHTML = await answer.text();
      if (open && !place.querySelector(".because")) place.querySelector("details")?.toggleAttribute("open", true);
      about();
    } catch (error) {
      if (error.name !== "AbortError") console.warn(error);
    }
  };

  const soon = () => {
    clearTimeout(waiting);
    waiting = setTimeout(attempt, pause);
  };

  form.addEventListener("input", soon);
  form.querySelector("button[value=try]")?.setAttribute("hidden", "");
  soon();
}

begin(document);
document.addEventListener("found", (event) => begin(event.target));
