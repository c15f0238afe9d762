// A choice of the plan moves when its grip is dragged. Buttons beside it do the same without a pointer.

const EDGE = 64; // px from the edge of the screen at which the page scrolls along
let drag = null;

const middle = ({ offsetTop, offsetHeight }) => offsetTop + offsetHeight / 2;
const at = (event) => event.clientY + scrollY;

// The dragged choice follows the pointer; those that it passes make room.
function follow(event) {
  const { choice, choices, from } = drag;
  if (event.clientY < EDGE) scrollBy({ top: -8, behavior: "instant" });
  if (event.clientY > innerHeight - EDGE) scrollBy({ top: 8, behavior: "instant" });
  const by = at(event) - drag.start;
  choice.style.translate = `0 ${by}px`;
  const ahead = (it) => middle(it) < middle(choice) + by;
  drag.to = choices.filter((it) => it !== choice && ahead(it)).length;
  choices.forEach((it, index) => {
    if (it === choice) return;
    const room = Number(index > from && ahead(it)) - Number(index < from && !ahead(it));
    it.style.translate = `0 ${-room * choice.offsetHeight}px`;
  });
}

// Before a new plan comes too, for htmx would copy the style to it.
function reset() {
  for (const it of document.querySelectorAll(".plan-line[style]")) it.removeAttribute("style");
}

function end() {
  delete drag.choice.dataset.dragged;
  drag = null;
}

addEventListener("pointerdown", (event) => {
  const grip = event.target.closest?.(".plan-grip");
  if (!grip || !event.isPrimary || event.button) return;
  event.preventDefault();
  grip.setPointerCapture(event.pointerId);
  const choice = grip.closest(".plan-line");
  const choices = [...choice.parentElement.children];
  const from = choices.indexOf(choice);
  drag = { choice, choices, from, to: from, start: at(event) };
  choice.dataset.dragged = "";
});

addEventListener("pointermove", (event) => { if (drag) follow(event); });

addEventListener("pointerup", () => {
  if (!drag) return;
  const { choice, from, to } = drag;
  end();
  if (to === from || !choice.isConnected) {
    reset();
    return;
  }
  const put = Object.assign(document.createElement("button"), { name: "do", value: `place-${to}`, hidden: true });
  choice.querySelector("form").append(put);
  put.click(); // a press, as htmx sends only what was pressed
});

function abandon() {
  if (!drag) return;
  end();
  reset();
}

addEventListener("pointercancel", abandon);
addEventListener("keydown", (event) => { if (event.key === "Escape") abandon(); });
for (const change of ["htmx:beforeSwap", "htmx:afterRequest"]) addEventListener(change, reset);
