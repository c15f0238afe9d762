// Sends a document in pieces, shows the progress, and goes on after a lost connection.
// Without this script, or without HTTPS, the form sends the whole file.

import { release } from "./busy.js";

const FIRST_PAUSE = 1000; // ms before a piece is sent again, longer each time
const LONGEST_PAUSE = 15000;

const MOST_BYTES = 10 * 2 ** 20; // a larger file is refused, whatever its digest

const pause = (ms) => new Promise((done) => { setTimeout(done, ms); });

class Refused extends Error {}

async function ask(form, url, method, body) {
  const headers = { "X-CSRFToken": form.elements.csrf_token.value };
  const answer = await fetch(url, { method, body, headers });
  const found = await answer.json().catch(() => ({}));
  if (found.error) throw new Refused(found.error);
  if (answer.status >= 500 || [408, 429].includes(answer.status)) throw new Error(answer.status);
  if (!answer.ok && answer.status !== 409) throw new Refused();
  return found;
}

async function digestOf(file) {
  const content = await file.slice(0, MOST_BYTES).arrayBuffer();
  const bytes = new Uint8Array(await crypto.subtle.digest("SHA-256", content));
  return [...bytes].map((each) => each.toString(16).padStart(2, "0")).join("");
}

async function sendAll(form, file, digest, show) {
  const about = new URLSearchParams({ part: form.elements.part.value, name: file.name, size: file.size, digest });
  const { url, received, piece } = await ask(form, form.dataset.upload, "POST", about);
  let start = received;
  do { // at least once: the last request may have stored the last piece and no document
    show(start);
    const next = await ask(form, `${url}?start=${start}`, "PUT", file.slice(start, start + piece)); // eslint-disable-line no-await-in-loop
    start = next.received;
  } while (start < file.size);
}

async function upload(form, file) {
  const state = form.querySelector("[data-upload-state]");
  const lost = state.querySelector("[data-text=lost]");
  const bar = state.querySelector("progress");
  const show = (sent) => { lost.hidden = true; bar.value = (100 * sent) / file.size; };
  state.hidden = false;
  const digest = await digestOf(file).catch(() => { throw new Refused(); });
  for (let wait = FIRST_PAUSE; ; wait = Math.min(2 * wait, LONGEST_PAUSE)) {
    try {
      return await sendAll(form, file, digest, show);
    } catch (error) {
      if (error instanceof Refused) throw error;
      lost.hidden = false;
      await pause(wait);
    }
  }
}

// Removes the server's errors about an earlier file.
function forgetRefusal() {
  document.querySelector(".errors")?.remove();
  document.querySelectorAll(".field-error:not([data-upload-error])").forEach((it) => it.remove());
  document.querySelectorAll("[type=file][aria-invalid]").forEach((it) => it.removeAttribute("aria-invalid"));
}

addEventListener("submit", (event) => {
  const form = event.target.closest("form[data-upload]");
  const file = form?.elements.file.files[0];
  if (!file || !file.size || !crypto.subtle) return;
  event.preventDefault();
  const button = form.querySelector("[type=submit]");
  const wrong = form.querySelector("[data-upload-error]");
  wrong.hidden = true;
  forgetRefusal();
  button.disabled = true;
  // Not `reload`: the page may be the answer to a file that was refused, and would send that again.
  upload(form, file).then(() => location.assign(form.action), (error) => {
    if (!error.message) {
      form.submit(); // the page says what is wrong, such as an ended session
      return;
    }
    form.querySelector("[data-upload-state]").hidden = true;
    button.disabled = false;
    release(form);
    wrong.textContent = error.message;
    wrong.hidden = false;
  });
});
