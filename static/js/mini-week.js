// Draws my classes in the week beside the list, and where the section would be that one points at.

const MINUTES = 60;
const week = document.querySelector(".mini-week");
const days = [...(week?.querySelectorAll(".mini-week-day > div") ?? [])];
let row = null; // that is pointed at, or has the focus

// "5,600,710": on Monday and Wednesday from 10:00 to 11:50.
function meetings(place) {
  return place.dataset.meets.split(" ").filter(Boolean).map((text) => text.split(",").map(Number));
}

function put(place, name, kind) {
  const first = Number(week.dataset.first) * MINUTES;
  const all = Number(week.dataset.last) * MINUTES - first;
  for (const [mask, start, end] of meetings(place)) {
    days.forEach((day, at) => {
      if (!(mask >> at & 1)) return;
      const block = document.createElement("i");
      block.dataset.kind = kind;
      block.textContent = name;
      block.style.setProperty("--from", (start - first) / all);
      block.style.setProperty("--long", (end - start) / all);
      day.append(block);
    });
  }
}

function draw() {
  for (const day of days) day.replaceChildren();
  for (const place of document.querySelectorAll("#mine [data-state=selected] [data-meets]")) put(place, place.dataset.name, "mine");
  for (const place of document.querySelectorAll("#plan .plan-option:first-child [data-meets]")) put(place, place.dataset.name, "planned");
  const shown = row?.isConnected && row.querySelector(".row-when[data-meets]");
  if (!shown) return;
  const code = row.querySelector(".row-code").textContent.split("-")[0];
  put(shown, code, row.querySelector("[data-why=time_conflict]") ? "clash" : "would");
}

function show({ target }) {
  const next = target.closest?.(".section-row") ?? null;
  if (next === row) return;
  row = next;
  draw();
}

if (week) {
  // A pointer at rest points at nothing, even while what is under it changes.
  addEventListener("pointermove", (event) => { if (event.movementX || event.movementY) show(event); }, { passive: true });
  addEventListener("focusin", show);
  for (const change of ["htmx:afterSettle", "htmx:oobAfterSwap"]) addEventListener(change, draw);
  draw();
}
