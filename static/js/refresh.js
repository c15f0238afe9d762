// Asks now and then for what moves on a page and comes by no socket, while somebody looks.

const EVERY = 5000;

async function refresh() {
  const { refresh: address } = document.querySelector("[data-refresh]")?.dataset ?? {};
  if (!address || document.hidden || !navigator.onLine) return;
  // By itself, so that an admin who went away is logged out all the same.
  const answer = await fetch(address, { headers: { "Fs-Alone": "1" } }).catch(() => null);
  if (!answer?.ok || answer.redirected) return;
  dispatchEvent(new CustomEvent("fs:fragments", { detail: await answer.text() }));
}

setInterval(refresh, EVERY);
document.addEventListener("visibilitychange", refresh);
