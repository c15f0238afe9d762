// Fetches the parts of a page that change and come by no socket: while the page is visible, or may ring.

const EVERY = 5000; // ms, unless the page says how often
const LONGEST = 5000; // ms for an answer

let timer = 0;
let asking = false;

const place = () => document.querySelector("[data-refresh]");
const later = () => { timer = setTimeout(refresh, Number(place()?.dataset.every ?? EVERY)); };

async function refresh() {
  if (asking) return;
  asking = true;
  clearTimeout(timer);
  if (place() && (!document.hidden || document.getElementById("bell"))) await ask(place().dataset.refresh);
  asking = false;
  later();
}

async function ask(address) {
  // By itself, so that an admin who went away is logged out all the same.
  const signal = AbortSignal.timeout(LONGEST);
  const answer = await fetch(address, { headers: { "Fs-Alone": "1" }, signal }).catch(() => null);
  const text = answer?.ok && !answer.redirected ? await answer.text().catch(() => null) : null;
  document.body.toggleAttribute("data-stale", text === null);
  if (text !== null) dispatchEvent(new CustomEvent("fs:fragments", { detail: text }));
}

document.addEventListener("visibilitychange", refresh);
later();
