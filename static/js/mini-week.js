// Draws my classes in the week beside the list, and where the section would be that one points at.
// A phone has no room beside the list: there the details of a section show the same week.

const MINUTES = 60;
const beside = document.querySelector(".mini-week");
let row = null; // that is pointed at, or has the focus

// "5,600,710": on Monday and Wednesday from 10:00 to 11:50.
function meetings(place) {
  return place.dataset.meets.split(" ").filter(Boolean).map((text) => text.split(",").map(Number));
}

// Blocks that overlap share the width of their day.
function share(day) {
  let [until, group, ends] = [-1, [], []];
  const blocks = [...day.children].sort((a, b) => a.dataset.start - b.dataset.start);
  for (const block of blocks) {
    const [start, end] = [Number(block.dataset.start), Number(block.dataset.end)];
    if (start >= until) [group, ends] = [[], []];
    const free = ends.findIndex((each) => each <= start);
    const lane = free < 0 ? ends.length : free;
    ends[lane] = end;
    until = Math.max(until, end);
    group.push(block);
    block.style.setProperty("--lane", lane);
    for (const each of group) each.style.setProperty("--lanes", ends.length);
  }
}

function put(week, place, name, kind) {
  const first = Number(week.dataset.first) * MINUTES;
  const all = Number(week.dataset.last) * MINUTES - first;
  for (const [mask, start, end] of meetings(place)) {
    week.querySelectorAll(".mini-week-day > div").forEach((day, at) => {
      if (!(mask >> at & 1)) return;
      const block = document.createElement("i");
      Object.assign(block.dataset, { kind, start, end });
      block.textContent = name;
      block.style.setProperty("--from", (start - first) / all);
      block.style.setProperty("--long", (end - start) / all);
      day.append(block);
    });
  }
}

function drawIn(week, shown, code, clashes) {
  const days = week.querySelectorAll(".mini-week-day > div");
  for (const day of days) day.replaceChildren();
  let drawn = false; // in the week already: not a second time when one points at its row
  const putAll = (places, kind) => {
    for (const place of document.querySelectorAll(places)) {
      const { name, meets } = place.dataset;
      drawn ||= Boolean(shown) && name === code && meets === shown.dataset.meets;
      put(week, place, name, kind);
    }
  };
  putAll("#mine [data-state=selected] [data-meets]", "mine");
  putAll("#plan .plan-option[data-first] [data-meets]", "planned");
  if (shown && !drawn) put(week, shown, code, clashes ? "clash" : "would");
  days.forEach(share);
}

function draw() {
  const shown = row?.isConnected && row.querySelector(".row-when[data-meets]");
  const code = shown && row.querySelector(".row-code").textContent.match(/\D*\d[^-]*/)?.[0];
  drawIn(beside, shown, code, shown && row.querySelector("[data-why=time_conflict]"));
  const details = document.querySelector("#dialog .week-with");
  if (!details) return;
  if (!details.querySelector(".mini-week")) details.append(beside.cloneNode(true));
  const { name, clash } = details.dataset;
  drawIn(details.querySelector(".mini-week"), details, name, clash !== undefined);
}

function show({ target }) {
  const next = target.closest?.(".section-row") ?? null;
  if (next === row) return;
  row = next;
  draw();
}

if (beside) {
  // A pointer at rest points at nothing, even while what is under it changes.
  addEventListener("pointermove", (event) => { if (event.movementX || event.movementY) show(event); }, { passive: true });
  addEventListener("focusin", show);
  for (const change of ["htmx:afterSettle", "htmx:oobAfterSwap"]) addEventListener(change, draw);
  draw();
}
