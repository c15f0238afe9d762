// The waiting room: the wait estimate changes by itself, and at the student's turn the picker opens.

const MINUTE = 60000;
const [NEVER, STAYING, NOTICE] = [24 * 60 * MINUTE, 0.7, 5000]; // as in portal/waiting_room/wait_estimates.py
const LONG = 120; // minutes from which on a wait is given in hours
const MOVE_AFTER = 5000; // ms until a move of my number is announced
const MOVE_PAUSE = 30000; // ms between two of them
const ARRIVED = "fairseat-turn"; // that the turn came on the page before

const spoken = document.getElementById("spoken");
const { lang } = document.documentElement;
const PLURAL = new Intl.PluralRules(lang);
const NUMBER = new Intl.NumberFormat(lang);

let shown = document.getElementById("banner");
let number; // that was announced
let soon = false; // whether a short wait was announced
let admitted = 0; // of those before me, since my number was last announced
let moveTimer = 0;
let movedAt = 0; // when a move was last announced
let wasPaused = false; // whether the pause was announced

const fill = (text, facts) => text.replace(/%\((\w+)\)s/g, (_, name) => facts[name]);
const many = (forms, count, shown) => fill(forms[PLURAL.select(count)] ?? forms.other, { count: shown });

// The same range and texts as the server's: see portal/waiting_room/wait_estimates.py and wording.py.
function wait({ ahead, pace, words }) {
  const [fewest, longest, free, quick, delay, slow] = pace.split(" ").map(Number);
  const first = Math.min(ahead, free);
  const others = ahead - first;
  const after = ahead >= free ? (others + 1) * longest + delay : 0;
  let least = Math.floor((STAYING * first * quick + others * fewest) / MINUTE);
  let most = Math.ceil((first * slow + after + NOTICE) / MINUTE);
  const forms = JSON.parse(words);
  if (longest >= NEVER) return { text: forms.unknown };
  if (most <= 1) return { text: forms.moment, soon: true };
  const unit = most < LONG ? "minutes" : "hours";
  if (unit === "hours") [least, most] = [Math.floor(least / 60), Math.ceil(most / 60)];
  if (!least) return { text: many(forms.most[unit], most, most) };
  return { text: many(forms.about[unit], most, fill(forms.span, { least, most })) };
}

function draw(element) {
  const { dataset } = element;
  const forms = JSON.parse(dataset.words);
  const ahead = Number(dataset.ahead);
  const { text: left } = wait(dataset);
  const number = NUMBER.format(ahead + 1);
  const title = fill(forms.title, { number });
  const before = ahead ? many(forms.before, ahead, NUMBER.format(ahead)) : forms.next;
  const texts = { title, number, wait: left, ahead: before, ...("paused" in dataset ? forms.paused : {}) };
  for (const place of element.querySelectorAll("[data-line]")) {
    const text = texts[place.dataset.line];
    if (text !== undefined && place.textContent !== text) place.textContent = text;
  }
}

addEventListener("fs:room", ({ detail: { window, called, pace, paused } }) => {
  for (const element of document.querySelectorAll(`[data-number][data-room="${window}"]`)) {
    const { dataset } = element;
    const was = Number(dataset.ahead);
    dataset.ahead = Math.max(0, Math.min(dataset.ahead, dataset.number - called - 1));
    dataset.pace = pace.join(" ");
    element.toggleAttribute("data-paused", paused);
    draw(element);
    if (element.id === "banner") moved(was - dataset.ahead);
  }
  say();
});

// Announces why my number has moved: soon after, but not at each move of a fast queue.
function moved(by) {
  admitted += by;
  if (admitted) moveTimer ||= setTimeout(sayMove, Math.max(MOVE_AFTER, movedAt + MOVE_PAUSE - Date.now()));
}

function sayMove() {
  const { number: mine, words } = document.getElementById("banner")?.dataset ?? {};
  if (mine) {
    const title = document.querySelector("#banner .banner-title").textContent.trim();
    const why = many(JSON.parse(words).admitted, admitted, NUMBER.format(admitted));
    document.querySelector('#banner [data-line="hint"]').textContent = why;
    spoken.textContent = `${title}. ${why}`;
  }
  [admitted, moveTimer, movedAt] = [0, 0, Date.now()];
}

// Announces the position once, once more shortly before the turn, and when the queue is paused or goes on.
function say() {
  const banner = document.getElementById("banner");
  if (!banner?.dataset.number) return;
  const left = wait(banner.dataset);
  const halted = "paused" in banner.dataset;
  if (banner.dataset.number !== number || (left.soon && !soon) || halted !== wasPaused) {
    const title = banner.querySelector(".banner-title").textContent.trim();
    spoken.textContent = halted
      ? `${title}. ${banner.querySelector('[data-line="ahead"]').textContent}`
      : `${title}: ${left.text}`;
  }
  number = banner.dataset.number;
  soon = Boolean(left.soon);
  wasPaused = halted;
}

function settle() {
  const banner = document.getElementById("banner");
  if (banner === shown) return;
  const from = shown?.dataset.phase; // as the countdown may have turned it
  shown = banner;
  say();
  if (from === "line" && banner?.dataset.until) arrive(banner);
  number = banner?.dataset.number;
}

function arrive(banner) {
  const { onward } = document.body.dataset;
  if (onward) {
    sessionStorage.setItem(ARRIVED, onward);
    location.assign(onward);
    return;
  }
  if (number) greet(banner);
  dispatchEvent(new Event("fs:in"));
}

// In the tab too, because a waiting student may be looking elsewhere; until the page is used.
function greet({ dataset: { turn } }) {
  const { title } = document;
  spoken.textContent = `${turn}. ${document.querySelector(".banner-title").textContent.trim()}`;
  document.title = `${turn} · ${title}`;
  const used = new AbortController();
  for (const use of ["pointerdown", "keydown"]) {
    addEventListener(use, () => { document.title = title; used.abort(); }, { signal: used.signal });
  }
}

document.addEventListener("visibilitychange", () => {
  if (!document.hidden && shown?.dataset.number) htmx.trigger(document.body, "fs:turn");
});
addEventListener("htmx:afterSettle", settle);

// What is below the banner may say less, but takes no less place.
addEventListener("htmx:oobBeforeSwap", ({ detail: { target } }) => {
  if (target.id === "gate" && !("over" in target.dataset)) target.style.minBlockSize = `${target.offsetHeight}px`;
});

say();
if (sessionStorage.getItem(ARRIVED) === location.pathname) {
  sessionStorage.removeItem(ARRIVED);
  if (shown?.dataset.until) greet(shown);
}
