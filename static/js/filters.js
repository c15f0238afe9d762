// Filters lie over the list, on a phone as a sheet: Back, Escape and a press beside them close them.

import { closed, opened } from "./back.js";

const filters = document.querySelector(".filters-more");
const summary = filters?.querySelector("summary");

function close() {
  if (!filters.open) return;
  if (filters.contains(document.activeElement)) summary.focus({ preventScroll: true });
  filters.open = false;
}

filters?.addEventListener("toggle", () => {
  if (filters.open) opened(close);
  else closed();
});
filters?.addEventListener("keydown", (event) => { if (event.key === "Escape") close(); });
filters?.addEventListener("focusout", ({ relatedTarget }) => {
  if (relatedTarget && !filters.contains(relatedTarget)) close();
});
filters?.closest("form").addEventListener("submit", close);

// Beside them, or on the shade behind a sheet, which belongs to the element itself.
addEventListener("pointerdown", ({ target }) => {
  if (filters?.open && (target === filters || !filters.contains(target))) close();
});

// The sheets of staff are popovers: only Back is left to do here.
document.addEventListener("toggle", ({ target, newState }) => {
  if (!target.matches(".sheet")) return;
  if (newState === "open") opened(() => target.hidePopover());
  else closed();
}, true);
