// Shows that no robot sits here: workers solve a puzzle of the server's, once for all of the page.

const TRIES = 3;
const PAUSE = 1000; // ms before the next try, longer each time
const WORKERS = Math.max(1, Math.min(4, (navigator.hardwareConcurrency ?? 2) - 1));

let state = "";

// The places where the server does not know of a proof yet have a form to send one with.
const unproven = () => [...document.querySelectorAll("[data-captcha]")].find((place) => place.querySelector("form"));
const pause = (ms) => new Promise((done) => { setTimeout(done, ms); });

function show(next) {
  state = next;
  for (const part of document.querySelectorAll("[data-captcha-state]")) {
    part.hidden = part.dataset.captchaState !== state;
  }
}

async function solve({ captcha, solver, pbkdf2, sha }) {
  const [challenge, { solveChallengeWorkers }] = await Promise.all([
    fetch(captcha, { cache: "no-store" }).then((answer) => answer.json()),
    import(solver),
  ]);
  const solution = await solveChallengeWorkers({
    challenge,
    concurrency: WORKERS,
    createWorker: (algorithm) => new Worker(algorithm.startsWith("PBKDF2") ? pbkdf2 : sha),
  });
  return btoa(JSON.stringify({ challenge, solution }));
}

async function prove(place) {
  const form = place.querySelector("form");
  const body = new URLSearchParams(new FormData(form));
  body.set("payload", await solve(place.dataset));
  const answer = await fetch(form.getAttribute("action"), { method: "POST", body, headers: { "HX-Request": "true" } });
  return answer.status === 204;
}

async function begin() {
  const place = unproven();
  if (!place) return;
  if (state === "working" || state === "failed") {
    show(state);
    return;
  }
  show("working");
  for (let tried = 0; tried < TRIES && window.isSecureContext; tried += 1) {
    if (tried) await pause(PAUSE * tried);
    if (await prove(place).catch(() => false)) {
      show("proven");
      document.body.dispatchEvent(new CustomEvent("fs:proven", { bubbles: true }));
      return;
    }
  }
  show("failed");
}

addEventListener("click", (event) => {
  if (!event.target.closest("[data-captcha-again]")) return;
  state = "";
  begin();
});

addEventListener("htmx:afterSettle", begin);
begin();
