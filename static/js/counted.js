// What a page works out of counts is asked for anew soon after any of them has moved.

const SOON = 500; // ms
let timer = 0;

function counted() {
  timer = 0;
  htmx.trigger(document.body, "fs:counted");
}

addEventListener("htmx:oobAfterSwap", ({ target }) => {
  if (!target.matches(".seats") || !document.querySelector("[data-counted]")) return;
  timer ||= setTimeout(counted, SOON);
});
