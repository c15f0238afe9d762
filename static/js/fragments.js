// Fragments that arrive by themselves never take away focus, half-typed text or a press, and move
// nothing at which a pointer aims.

const TYPED = "input, textarea, select, [contenteditable]";
const FOCUSABLE = "a[href], button:not([disabled]), input:not([disabled]), summary";
const AIMING = 600; // ms since a mouse last moved
const waiting = new Map(); // by id, what is to go in later
const postponed = new Map(); // requests to repeat, since their answers came while their target was busy
let pressed = null;
let aimed = null;
let aimedAt = 0;
let later = 0;

htmx.defineExtension("fragments", {
  // Only messages of the socket come without a request.
  transformResponse: (text, request) => (request ? placed(text) : sift(text)),
});

addEventListener("fs:fragments", (event) => {
  htmx.swap(document.body, sift(event.detail), { swapStyle: "none" });
});

// An answer without those parts that this page has no place for.
function placed(text) {
  if (!text.includes("hx-swap-oob")) return text;
  const template = document.createElement("template");
  template.innerHTML = text;
  for (const part of template.content.querySelectorAll("[hx-swap-oob]")) {
    const [, selector = `#${part.id}`] = part.getAttribute("hx-swap-oob").split(/:(.*)/);
    if (!document.querySelector(selector)) part.remove();
  }
  return template.innerHTML;
}

// Gives those fragments that have a place on this page, differ from it, and may go in now.
function sift(text) {
  const template = document.createElement("template");
  template.innerHTML = text;
  for (const part of [...template.content.children]) {
    if (part.hasAttribute("hx-swap-oob")) continue;
    const target = document.getElementById(part.id);
    if (!target || target.isEqualNode(part)) {
      waiting.delete(part.id);
      part.remove();
    } else if (isBusy(target)) {
      waiting.set(part.id, part.outerHTML);
      part.remove();
    } else {
      part.setAttribute("hx-swap-oob", "true");
    }
  }
  return template.innerHTML;
}

function isBusy(target) {
  const focused = document.activeElement;
  return isPressed(target) || isAimedAt(target) || (target.contains(focused) && focused.matches(TYPED));
}

const isPressed = (target) => pressed !== null && target.contains(pressed);

function isAimedAt(target) {
  const left = aimedAt + AIMING - Date.now();
  if (left <= 0 || !target.contains(aimed)) return false;
  clearTimeout(later);
  later = setTimeout(release, left);
  return true;
}

function release() {
  const text = [...waiting.values()].join("");
  waiting.clear();
  if (text) htmx.swap(document.body, sift(text), { swapStyle: "none" });
  for (const [question, target] of [...postponed]) {
    if (isBusy(target)) continue;
    postponed.delete(question);
    htmx.trigger(document.body, question);
  }
}

addEventListener("pointermove", (event) => {
  if (event.pointerType !== "mouse") return;
  aimed = event.target;
  aimedAt = Date.now();
}, { capture: true, passive: true });

addEventListener("pointerdown", (event) => { pressed = event.target; }, true);
for (const end of ["pointerup", "pointercancel"]) {
  // After the click that a release of the pointer is about to make.
  addEventListener(end, () => setTimeout(() => { pressed = null; release(); }, 50), true);
}
addEventListener("focusout", () => setTimeout(release));

// Requests that the page makes by itself, after a signal.
addEventListener("htmx:beforeSwap", (event) => {
  const { target, requestConfig } = event.detail;
  const question = requestConfig?.triggeringEvent?.type ?? "";
  if (!question.startsWith("fs:")) return;
  if (isBusy(target)) {
    event.detail.shouldSwap = false;
    postponed.set(question, target);
  } else keep(target);
});

addEventListener("htmx:oobBeforeSwap", (event) => {
  const { target, fragment } = event.detail;
  const next = fragment.firstElementChild;
  // An answer that arrives after a newer live update.
  if (Number(next?.dataset.seq) < Number(target.dataset.seq)) event.detail.shouldSwap = false;
  else if (isPressed(target)) {
    event.detail.shouldSwap = false;
    waiting.set(target.id, written(target, fragment));
  } else keep(target);
});

// As it came: htmx hands over what replaces the target, or what holds its new content.
function written(target, fragment) {
  if (fragment instanceof DocumentFragment) return fragment.firstElementChild.outerHTML;
  return `<div hx-swap-oob="innerHTML:#${target.id}">${fragment.innerHTML}</div>`;
}

// After the swap that is about to be made.
function keep(target) {
  const { id } = target;
  const lost = target.contains(document.activeElement) ? document.activeElement : null;
  const from = [...target.querySelectorAll(FOCUSABLE)].indexOf(lost);
  const open = folds(target);
  queueMicrotask(() => {
    const now = document.getElementById(id);
    if (!now) return;
    for (const [name, fold] of folds(now)) fold.open = open.get(name)?.open ?? fold.open;
    if (lost && !lost.isConnected && document.activeElement === document.body) focus(now, lost, from);
  });
}

// Every details element, with a name that it has before and after.
function folds(root) {
  const met = {};
  return new Map([...root.querySelectorAll("details")].map((fold) => {
    const place = fold.closest("[id]")?.id;
    met[place] = (met[place] ?? 0) + 1;
    return [`${place} ${met[place]}`, fold];
  }));
}

function focus(now, lost, from) {
  const places = [...now.querySelectorAll(FOCUSABLE)];
  const same = lost.href && places.find((place) => place.href === lost.href);
  const next = document.getElementById(lost.id) ?? same ?? places[from] ?? places[0] ?? now;
  if (next === now) now.setAttribute("tabindex", "-1");
  next.focus({ preventScroll: true });
}
