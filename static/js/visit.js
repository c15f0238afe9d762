// A visit goes on while its page is visible. If it can't go on, a toast warns before its end.

const BEFORE = 90000; // ms before the end
const AFTER = 1000; // and after it
const SETTLED = 5000; // ms without a change until the page asks whether others wait
const LONGEST = 15000; // ms until the page asks even if that keeps changing

let banner = null;
let until = ""; // when it ends, by the server's clock
let ends = Infinity; // by this computer's
let extendedAt = ""; // the end before which a longer visit was requested
let timer = 0;
let toast = null;
let changeTimer = 0;
let changedAt = 0;

const look = () => htmx.trigger(document.body, "fs:window");

function settle() {
  const found = document.getElementById("banner");
  if (found === banner) return;
  banner = found;
  const { until: end = "", now } = banner?.dataset ?? {};
  if (end !== until) toast?.remove();
  until = end;
  ends = until ? Date.now() + Number(until) - Number(now) : Infinity;
  wait(near, ends - BEFORE);
}

function wait(act, at) {
  clearTimeout(timer);
  if (at < Infinity) timer = setTimeout(act, Math.max(0, at - Date.now()));
}

function near() {
  wait(look, ends + AFTER);
  if (extendedAt === until) warn();
  else if (!document.hidden) stay();
}

function stay() {
  extendedAt = until;
  look();
}

function warn() {
  toast?.remove();
  toast = banner.querySelector("template[data-over]").content.firstElementChild.cloneNode(true);
  document.getElementById("toasts").append(toast);
}

document.addEventListener("visibilitychange", () => {
  if (!document.hidden && extendedAt !== until && Date.now() > ends - BEFORE) stay();
});
// Whether my turn has an end changes when others begin to wait, or no longer do. After an opening that
// may change every few seconds: ask once it has settled, or after a while. Signals may come in another
// order than sent.
addEventListener("fs:others", ({ detail: { others } }) => {
  if (!until || (!changeTimer && ("ends" in banner.dataset) === others)) return;
  if (!changeTimer) changedAt = Date.now();
  clearTimeout(changeTimer);
  const rest = Math.max(0, Math.min(SETTLED, changedAt + LONGEST - Date.now()));
  changeTimer = setTimeout(() => { changeTimer = 0; look(); }, rest);
});
addEventListener("htmx:afterSettle", settle);
settle();
