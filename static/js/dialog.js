// Whatever is put into #dialog opens it; closing gives focus back to where it came from.

const dialog = document.getElementById("dialog");
let opener = null;
let home = null; // what had the focus back when it was closed
let place = ""; // id of what surrounds the opener, since the opener itself may be replaced
let heard = null; // the last of the toasts before the dialog opened
let leaving = false; // whether its entry in the browser's history is being left, as it was closed
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
    heard = toasts.lastElementChild;
    dialog.showModal();
    enter();
  }
  dialog.querySelector("[autofocus]")?.focus();
}

// An open dialog has an entry of its own in the browser's history: Back closes it, and the page
// stays with its search.
function enter() {
  if (history.state?.dialog || leaving) return;
  history.pushState({ ...history.state, dialog: true }, "");
}

// Before htmx hears of it, which would load the page again.
addEventListener("popstate", (event) => {
  if (!leaving && !dialog.open) return;
  event.stopImmediatePropagation();
  setTimeout(refocus); // an address that ends in #main would take the focus there
  const anew = leaving && dialog.open;
  leaving = false;
  if (anew) enter();
  else if (dialog.open) dialog.close();
}, true);

function refocus() {
  if (!dialog.open && document.activeElement?.matches("body, main")) home?.focus({ preventScroll: true });
}

dialog.addEventListener("close", () => {
  if (!history.state?.dialog) return;
  leaving = true;
  history.back();
});

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
  sayUnheard();
});

// What was said meanwhile lay behind the dialog, where no screen reader listens.
function sayUnheard() {
  const all = [...toasts.children];
  toasts.append(...all.slice(all.indexOf(heard) + 1));
}
