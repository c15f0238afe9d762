// Whatever is put into #dialog opens it; closing gives focus back to where it came from.

import { closed, opened } from "./back.js";

const dialog = document.getElementById("dialog");
let opener = null;
let home = null; // what had the focus back when it was closed
let place = ""; // id of what surrounds the opener, since the opener itself may be replaced
let announced = null; // the last toast before the dialog opened
const toasts = document.getElementById("toasts");

addEventListener("htmx:beforeRequest", (event) => {
  if (event.detail.target !== dialog || dialog.open) return;
  opener = event.detail.elt;
  place = opener.closest("[id]")?.id ?? "";
});

addEventListener("htmx:afterSwap", (event) => {
  if (event.detail.target === dialog && dialog.firstElementChild) open();
});

// What a script has made, in place of an answer that did not come.
addEventListener("fs:dialog", (event) => {
  dialog.replaceChildren(event.detail);
  open();
});

function open() {
  if (!dialog.open) {
    announced = toasts.lastElementChild;
    dialog.showModal();
    opened(() => dialog.close(), refocus);
  }
  dialog.querySelector("[autofocus]")?.focus();
}

function refocus() {
  if (!dialog.open && document.activeElement?.matches("body, main")) home?.focus({ preventScroll: true });
}

dialog.addEventListener("close", closed);

addEventListener("fs:close", () => dialog.close());

addEventListener("click", (event) => {
  const inside = event.target.closest("[data-close-dialog]");
  if (event.target === dialog || (inside && dialog.contains(inside))) {
    event.preventDefault();
    dialog.close();
  }
});

dialog.addEventListener("close", () => {
  dialog.replaceChildren();
  const nearby = document.getElementById(place);
  const next = opener?.isConnected ? opener : nearby?.querySelector("a[href], button") ?? nearby;
  home = next;
  next?.focus({ preventScroll: true });
  opener = null;
  announceToasts();
});

// Screen readers do not read toasts behind an open dialog: add these again.
function announceToasts() {
  const all = [...toasts.children];
  toasts.append(...all.slice(all.indexOf(announced) + 1));
}
