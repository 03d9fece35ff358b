// Sends files by tus 1.0.0 (https://tus.io/protocols/resumable-upload), so that
// sending goes on where it broke off: in this browser, or in another one that
// has the same file. Without this module the forms send their file as a whole.

const version = "1.0.0";
const slice = 4 << 20; // how much one request brings: progress is seen, and little is sent twice
const sample = 1 << 20; // how much of a file's beginning and end tells it from another
const waits = [1, 2, 5, 10, 20, 30]; // seconds between attempts
let sending = 0;

window.addEventListener("beforeunload", (event) => {
  if (sending > 0) event.preventDefault();
});

class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

// ask sends a request, again and again while there is no answer, and refuses
// what the server refuses.
async function ask(job, method, url, headers = {}, body = undefined) {
  for (let attempt = 0; ; attempt++) {
    try {
      const answer = await fetch(url, {
        method, body, credentials: "same-origin", signal: job.abort.signal, headers: { "Tus-Resumable": version, Accept: "application/json", ...headers },
      });
      if (answer.ok) return answer;
      if (answer.status < 500 && answer.status !== 429) {
        const said = await answer.json().catch(() => ({}));
        const message = answer.status === 401 ? "You are signed out. Sign in again, then choose the file again to go on." : said.message;
        throw new Refused(answer.status, message || `The server answered ${answer.status}.`);
      }
    } catch (error) {
      if (error instanceof Refused || job.abort.signal.aborted) throw error;
    }
    if (method === "PATCH") throw new Refused(409, ""); // how much of it came is not known: ask
    await pause(job, attempt);
  }
}

function pause(job, attempt) {
  const seconds = waits[Math.min(attempt, waits.length - 1)];
  job.say(`The server does not take it just now. Trying again in ${seconds} s.`);
  return new Promise((resolve) => setTimeout(resolve, seconds * 1000));
}

// fingerprint tells a file from another of the same name and size, by what is
// in its beginning and end (FNV-1a, 32 bits, with two starting values).
async function fingerprint(file) {
  const parts = [file.slice(0, sample), file.slice(Math.max(0, file.size - sample))];
  const bytes = new Uint8Array(await new Blob(parts).arrayBuffer());
  let [a, b] = [0x811c9dc5, 0x01000193];
  for (const byte of bytes) {
    a = Math.imul(a ^ byte, 0x01000193);
    b = Math.imul(b ^ byte, 0x01000193);
  }
  return [file.size, a >>> 0, b >>> 0].map((n) => n.toString(16)).join("-");
}

const encode = (text) => btoa(String.fromCharCode(...new TextEncoder().encode(text)));

function decode(metadata) {
  const pairs = (metadata || "").split(",").map((pair) => pair.trim().split(" "));
  return Object.fromEntries(pairs.map(([name, value]) => {
    try {
      return [name, new TextDecoder().decode(Uint8Array.from(atob(value || ""), (c) => c.charCodeAt(0)))];
    } catch {
      return [name, ""];
    }
  }));
}

// here is an address as this page reaches it: base_url may be another name.
const here = (url) => new URL(url).pathname;

// siteOf writes a site as the server does, which gives it back with its file.
function siteOf(text) {
  return URL.canParse(text) ? new URL(text).href.replace(/\/+$/, "") : text;
}

// find gives where a file goes, and how much of it is there.
async function find(job, file, print) {
  const list = await (await ask(job, "GET", job.uploads)).json();
  const open = list.items.find((u) => u.kind === job.kind);
  const metadata = { kind: job.kind, filename: file.name, fingerprint: print };
  if (job.site) metadata.site = job.site;
  if (open) {
    const head = await ask(job, "HEAD", here(open.url));
    const was = decode(head.headers.get("Upload-Metadata"));
    if (was.fingerprint === print && (was.site || "") === job.site) {
      return { url: here(open.url), offset: Number(head.headers.get("Upload-Offset")) };
    }
    const percent = open.length ? Math.floor((open.offset * 100) / open.length) : 100;
    const begun = new Date(open.createdAt).toLocaleString();
    await job.choose(`Another file is here: ${open.filename || "without a name"}, from ${open.createdBy}, begun ${begun}, ${percent}% of it came in.`, "Send this one instead");
    metadata.replace = "true";
  }
  const pairs = Object.entries(metadata).map(([name, value]) => `${name} ${encode(value)}`).join(",");
  const made = await ask(job, "POST", job.uploads, { "Upload-Length": String(file.size), "Upload-Metadata": pairs });
  return { url: here(made.headers.get("Location")), offset: 0 };
}

// send sends the rest of a file.
async function send(job, file, to) {
  let failed = 0; // in a row
  while (to.offset < file.size) {
    job.progress(to.offset, file.size);
    try {
      const part = file.slice(to.offset, to.offset + slice);
      const answer = await ask(job, "PATCH", to.url, { "Upload-Offset": String(to.offset), "Content-Type": "application/offset+octet-stream" }, part);
      to.offset = Number(answer.headers.get("Upload-Offset"));
      failed = 0;
    } catch (error) {
      if (error.status !== 409) throw error;
      await pause(job, failed++);
      const head = await ask(job, "HEAD", to.url);
      to.offset = Number(head.headers.get("Upload-Offset"));
    }
  }
  job.progress(file.size, file.size);
}

// jobOf is a file on its way, and what its form says of it.
function jobOf(form) {
  const area = form.querySelector("[data-sending]");
  const bar = area.querySelector("progress");
  const said = area.querySelector("[data-said]");
  const choices = area.querySelector("[data-choices]");
  const abort = new AbortController();
  const button = (label, done) => {
    const b = document.createElement("button");
    b.type = "button";
    b.textContent = label;
    b.addEventListener("click", done);
    choices.append(b);
  };
  area.hidden = false;
  return {
    uploads: form.dataset.tus, kind: form.dataset.kind, site: siteOf(form.elements.site?.value.trim() || ""), abort,
    say(text) { said.textContent = text; },
    progress(done, all) {
      const percent = all ? Math.floor((done * 100) / all) : 100;
      bar.value = percent;
      said.textContent = `${done} / ${all} bytes (${percent}%)`;
    },
    choose(text, label) {
      said.textContent = text;
      return new Promise((resolve, reject) => {
        const end = (then) => () => { choices.replaceChildren(); button("Stop sending", () => abort.abort()); then(); };
        choices.replaceChildren();
        button(label, end(resolve));
        button("Leave it", end(() => reject(new Refused(0, "Nothing was sent."))));
      });
    },
    begin() { choices.replaceChildren(); button("Stop sending", () => abort.abort()); },
    end(text) { choices.replaceChildren(); said.textContent = text; },
  };
}

async function upload(form, file) {
  if (form.dataset.busy) return;
  const input = form.querySelector("input[type=file]");
  form.dataset.busy = "true";
  input.disabled = true;
  sending++;
  const job = jobOf(form);
  job.begin();
  job.say("Looking at the file …");
  let through = false;
  try {
    const to = await find(job, file, await fingerprint(file));
    await send(job, file, to);
    job.end("The file is here.");
    through = true;
  } catch (error) {
    job.end(job.abort.signal.aborted ? "Stopped. Choose the file again to go on." : error.message || "The file cannot be read any more. Choose it again.");
  }
  delete form.dataset.busy;
  input.disabled = false;
  input.value = ""; // so that the same file can be chosen again
  sending--;
  if (through && sending === 0) location.replace(location.pathname);
}

document.querySelectorAll("form[data-tus]").forEach((form) => {
  const input = form.querySelector("input[type=file]");
  const text = form.querySelector("textarea");
  const drop = form.querySelector("[data-drop]");
  form.querySelectorAll(".scripted").forEach((e) => { e.hidden = false; });

  input.addEventListener("change", () => { if (input.files.length) upload(form, input.files[0]); });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (input.files.length) upload(form, input.files[0]);
    else if (text?.value.trim()) upload(form, new File([text.value], "pasted text"));
    else input.focus();
  });
  drop.addEventListener("dragover", (event) => {
    event.preventDefault();
    drop.classList.add("over");
  });
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    if (event.dataTransfer.files.length) upload(form, event.dataTransfer.files[0]);
  });
});
