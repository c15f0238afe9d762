// Counts down to the opening or closing of a window by the ledger's clock, not by this computer's.

const SAMPLES = 3;
const AGREES = 150; // ms below which the difference is not shown
const CLOSED = [0, 1000];
const AGAIN = [1500, 3000];
const URGENT = 3600; // seconds left from which the banner is large
const MOVED = 1000; // ms by which the number must jump to be announced
const MILESTONES = [600, 300, 60]; // seconds left that are announced

let offset = 0; // ms to add to this computer's clock
let measured = false; // before that, the offset includes the time that the page took
let doubt = 0; // ms by which that may be wrong
let banner = null;
let texts = {}; // in the language of the page: see portal/windows/phases.py
let timer = 0;
let turned = ""; // the phase that is over, while the next is asked for
let announcedAt = Infinity;
const spoken = document.getElementById("spoken");

const { lang } = document.documentElement;
const PLURAL = new Intl.PluralRules(lang);
const TENTHS = new Intl.NumberFormat(lang, { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const pause = (ms) => new Promise((done) => { setTimeout(done, ms); });
const now = () => Date.now() + offset;

// The sample with the shortest way there and back is the nearest to the truth.
async function measure() {
  let best = null;
  for (let i = 0; i < SAMPLES; i += 1) {
    const sent = Date.now();
    const answer = await fetch("/clock", { cache: "no-store" }).then((it) => it.json()).catch(() => null);
    const trip = Date.now() - sent;
    if (answer && (!best || trip < best.trip)) best = { trip, offset: answer.now - sent - trip / 2 };
    await pause(100 + Math.random() * 200);
  }
  if (!best) return;
  offset = best.offset;
  measured = true;
  doubt = best.trip / 2;
  show();
  tick();
}

function show() {
  const note = banner?.querySelector("[data-offset]");
  if (!note || !measured) return;
  const ms = offset;
  const seconds = Math.abs(ms / 1000);
  const amount = seconds < 100
    ? fill(texts.seconds, { count: TENTHS.format(seconds) })
    : fill(texts.minutes, { count: Math.round(seconds / 60) });
  note.removeAttribute("data-unknown");
  note.toggleAttribute("data-agrees", Math.abs(ms) < AGREES);
  note.textContent = Math.abs(ms) < AGREES ? texts.agrees : fill(ms > 0 ? texts.behind : texts.ahead, { amount });
}

const fill = (text, facts) => text.replace(/%\((\w+)\)s/g, (_, name) => facts[name]);

// Of a sentence in several plural forms the one for so many.
const many = (forms, count) => fill(forms[PLURAL.select(count)] ?? forms.other, { count });

function begin() {
  const found = document.querySelector("[data-phase][data-now]");
  if (found === banner) return;
  const { phase } = banner?.dataset ?? {};
  const [was, until] = [banner, phase && target()];
  banner = found;
  texts = JSON.parse(banner?.dataset.words ?? "{}");
  turned = "";
  clearTimeout(timer);
  if (!banner) return;
  if (phase === undefined) {
    offset = Number(banner.dataset.now) - Date.now();
    measure();
  } else if (phase !== banner.dataset.phase) {
    announcedAt = Infinity;
    say(banner.querySelector(".banner-title")?.textContent.trim() ?? "");
  } else if (Math.abs(target() - until) > MOVED) {
    explain(was);
  }
  if (["open", "line"].includes(phase) && banner.dataset.phase === "before") measure(); // it turned too early
  show();
  tick();
}

// Of a phase: when the window opens, and when it or, while others wait, my turn ends.
function target() {
  const { phase, opens, closes, ends = closes } = banner.dataset;
  return Number({ before: opens, open: ends }[phase] ?? NaN);
}

// The number jumps: say why, to eyes and ears.
function explain(was) {
  const freed = was.dataset.ends && !banner.dataset.ends && banner.querySelector("template[data-freed]");
  const why = freed || banner.querySelector("template[data-moved]");
  if (why) document.getElementById("toasts").append(why.content.cloneNode(true));
  announcedAt = Infinity;
}

// The banner grows; what is below it stays under the eyes and the finger.
function enlarge() {
  const gate = document.getElementById("gate");
  const calm = [banner, gate].filter((it) => it?.hasAttribute("data-calm"));
  if (!calm.length) return;
  const before = gate?.getBoundingClientRect().top;
  for (const each of calm) each.removeAttribute("data-calm");
  if (gate) scrollBy({ top: gate.getBoundingClientRect().top - before, behavior: "instant" });
}

function tick() {
  clearTimeout(timer);
  const left = banner ? target() - now() : NaN;
  if (Number.isNaN(left)) return;
  const seconds = Math.max(0, Math.ceil(left / 1000));
  banner.querySelector(".clock").textContent = clockface(seconds);
  if (seconds <= URGENT) enlarge();
  else banner.setAttribute("data-calm", "");
  answer(seconds);
  announce(seconds);
  if (left > 0) timer = setTimeout(tick, left % 1000 || 1000);
  else if (turned !== banner.dataset.phase) turn();
}

// At zero every page opens by itself, and asks later whether that was right: if all pages asked at that
// moment, those with the last answers would pick last. The ledger refuses what comes too early.
function turn() {
  const passed = banner;
  turned = banner.dataset.phase;
  if (banner.dataset.phase === "before") timer = setTimeout(openNow, doubt);
  confirm(passed, banner.dataset.phase === "before" ? banner.dataset.asks.split(" ").map(Number) : CLOSED);
}

// To the picker, or to the waiting room if others may come first.
function openNow() {
  banner.querySelector(".banner-title").textContent = banner.dataset.then;
  banner.dataset.phase = banner.dataset.next;
  say(banner.dataset.then);
  tick();
}

// Ask for the banner of the new phase, again and again until it is there.
function confirm(passed, [least, most]) {
  setTimeout(() => {
    if (passed !== banner) return;
    htmx.trigger(document.body, "fs:window");
    confirm(passed, AGAIN);
  }, least + Math.random() * (most - least));
}

function clockface(seconds) {
  const pad = (number) => String(number).padStart(2, "0");
  const days = Math.floor(Math.ceil(seconds / 60) / 1440); // as the server counts them
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor(seconds / 60) % 60;
  if (days > 1) return many(texts.days[banner.dataset.phase], days);
  return (hours ? `${hours}:${pad(minutes)}` : minutes) + `:${pad(seconds % 60)}`;
}

// The same sentence as the server's: see portal/windows/phases.py.
function answer(seconds) {
  const minutes = Math.ceil(seconds / 60);
  const place = banner.querySelector("[data-answer]");
  const answers = texts.answers[banner.dataset.phase];
  if (!place || !answers) return;
  if (minutes >= 2880) place.textContent = many(answers.days, Math.floor(minutes / 1440));
  else if (minutes >= 120) place.textContent = many(answers.hours, Math.floor(minutes / 60));
  else if (seconds >= 60) place.textContent = many(answers.minutes, minutes);
  else place.textContent = many(answers.seconds, seconds);
}

function announce(seconds) {
  const passed = MILESTONES.find((mark) => seconds <= mark && announcedAt > mark);
  if (passed && announcedAt !== Infinity) {
    say(many(texts.until[banner.dataset.ends ? "turn" : banner.dataset.phase], Math.round(passed / 60)));
  }
  announcedAt = seconds;
}

function say(text) {
  spoken.textContent = text;
}

function wake() {
  if (document.hidden || !banner) return;
  tick();
  measure();
}

addEventListener("htmx:afterSettle", begin);
addEventListener("fs:turned", tick);
addEventListener("pageshow", (event) => { if (event.persisted) wake(); });
document.addEventListener("visibilitychange", wake);
begin();
