// Fragments that arrive by themselves never take away focus, half-typed text or a press.

const TYPED = "input, textarea, select, [contenteditable]";
const FOCUSABLE = "a[href], button:not([disabled]), input:not([disabled]), summary";
const waiting = new Map();
let pressed = null;

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
  const typing = target.contains(document.activeElement) && document.activeElement.matches(TYPED);
  return typing || (pressed !== null && target.contains(pressed));
}

function release() {
  if (waiting.size === 0) return;
  const text = [...waiting.values()].join("");
  waiting.clear();
  htmx.swap(document.body, sift(text), { swapStyle: "none" });
}

addEventListener("pointerdown", (event) => { pressed = event.target; }, true);
for (const end of ["pointerup", "pointercancel"]) {
  // After the click that a release of the pointer is about to make.
  addEventListener(end, () => setTimeout(() => { pressed = null; release(); }, 50), true);
}
addEventListener("focusout", () => setTimeout(release));

addEventListener("htmx:oobBeforeSwap", (event) => {
  const { target, fragment } = event.detail;
  const next = fragment.firstElementChild;
  // An answer that took longer than the news which followed it.
  if (Number(next?.dataset.seq) < Number(target.dataset.seq)) event.detail.shouldSwap = false;
  else if (target.contains(document.activeElement)) keepFocus(target);
});

function keepFocus(target) {
  const lost = document.activeElement;
  const from = [...target.querySelectorAll(FOCUSABLE)].indexOf(lost);
  queueMicrotask(() => {
    if (lost.isConnected || document.activeElement !== document.body) return;
    const now = document.getElementById(target.id);
    const places = now ? [...now.querySelectorAll(FOCUSABLE)] : [];
    const next = document.getElementById(lost.id) ?? places[from] ?? places[0] ?? now;
    if (next === now) now?.setAttribute("tabindex", "-1");
    next?.focus({ preventScroll: true });
  });
}
