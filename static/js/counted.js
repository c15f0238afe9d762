// Fetches what a page computes from counts again, soon after a count has changed.

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
