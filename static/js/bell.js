// Rings while the page shows an alarm that rings. Browsers play no sound before a press on the page.

const REPEAT = 8000; // ms between two rings
const TONES = [880, 660, 880]; // Hz
const LONG = 0.18; // seconds of each
const KEPT = "fairseat-bell"; // whether this browser's admin wants to hear alarms

const bell = document.getElementById("bell");
const alertText = document.getElementById("bell-alert");
const { title } = document;
let audio = null;
let timer = 0;
let text = ""; // of the alarm that rings

const wanted = () => localStorage.getItem(KEPT) === "on";
const isAudible = () => wanted() && audio?.state === "running";

function play() {
  if (!isAudible()) return;
  TONES.forEach((pitch, number) => {
    const [tone, volume, from] = [audio.createOscillator(), audio.createGain(), audio.currentTime + number * LONG];
    tone.frequency.value = pitch;
    volume.gain.setValueAtTime(0.2, from);
    volume.gain.linearRampToValueAtTime(0, from + LONG);
    tone.connect(volume).connect(audio.destination);
    tone.start(from);
    tone.stop(from + LONG);
  });
  bell.dataset.rung = Number(bell.dataset.rung ?? 0) + 1;
}

// Only a press may start sound. The button handles its own presses.
async function unlock(event) {
  if (!wanted() || isAudible() || bell.contains(event?.target)) return;
  audio ??= new AudioContext();
  await audio.resume();
  show();
  if (text) play();
}

function show() {
  const [button, note] = bell.children;
  button.textContent = wanted() ? bell.dataset.on : bell.dataset.off;
  note.textContent = wanted() && !isAudible() ? bell.dataset.blocked : "";
  bell.hidden = false;
}

async function turn() {
  if (wanted() && !isAudible()) return unlock();
  localStorage.setItem(KEPT, wanted() ? "off" : "on");
  show();
  if (!wanted()) return;
  await unlock();
  if (!text) play(); // so that the admin knows how it sounds
}

function check() {
  const now = document.querySelector("[data-rings]")?.textContent.trim() ?? "";
  const begins = now && !text;
  if (Boolean(now) !== Boolean(text)) {
    alertText.textContent = now;
    document.title = now ? `⚠ ${title}` : title;
    clearInterval(timer);
    if (now) timer = setInterval(play, REPEAT);
  }
  text = now;
  if (begins) play();
}

if (bell) {
  bell.firstElementChild.addEventListener("click", turn);
  for (const press of ["pointerdown", "keydown"]) addEventListener(press, unlock, true);
  new MutationObserver(check).observe(document.getElementById("main"), { childList: true, subtree: true });
  show();
  check();
}
