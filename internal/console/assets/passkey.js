// Forms with data-passkey ask the browser for a passkey, or to make one, when
// they are sent, and send what it answers.

const decode = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));

const encode = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer)))
  .replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");

// The server writes bytes as base64url; the browser takes and gives buffers.
function asked(form) {
  const options = JSON.parse(form.dataset.options);
  options.challenge = decode(options.challenge);
  if (options.user) options.user.id = decode(options.user.id);
  for (const list of [options.allowCredentials, options.excludeCredentials]) {
    list?.forEach((credential) => { credential.id = decode(credential.id); });
  }
  return options;
}

function answer(credential) {
  const response = {};
  for (const member of ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"]) {
    if (credential.response[member]) response[member] = encode(credential.response[member]);
  }
  if (credential.response.getTransports) response.transports = credential.response.getTransports();
  return JSON.stringify({
    id: credential.id, rawId: encode(credential.rawId), type: credential.type, response,
    authenticatorAttachment: credential.authenticatorAttachment ?? undefined,
    clientExtensionResults: credential.getClientExtensionResults(),
  });
}

// What went wrong, by the names of https://www.w3.org/TR/webauthn-3/.
const problems = {
  NotAllowedError: "It was cancelled, took too long, or there is no passkey of this server here. Try again, or use another way.",
  InvalidStateError: "This device has a passkey of yours already.",
  SecurityError: "Passkeys are bound to the address in base_url. Open the console there.",
};

async function run(form) {
  const publicKey = asked(form);
  const credential = form.dataset.passkey === "create"
    ? await navigator.credentials.create({ publicKey })
    : await navigator.credentials.get({ publicKey });
  form.querySelector("[data-passkey-answer]").value = answer(credential);
  form.submit();
}

for (const form of document.querySelectorAll("form[data-passkey]")) {
  const problem = form.querySelector("[data-passkey-problem]");
  const say = (text) => { problem.textContent = text; problem.hidden = !text; };
  if (!window.isSecureContext) {
    say("Browsers allow passkeys over https only. Open the console at its https address, or use another way.");
  } else if (!window.PublicKeyCredential) {
    say("This browser has no passkeys. Use another way.");
  } else {
    say("");
    form.querySelector("[data-passkey-run]").hidden = false;
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      say("");
      try {
        await run(form);
      } catch (error) {
        say(problems[error.name] ?? `The browser says: ${error.message}`);
      }
    });
  }
}
