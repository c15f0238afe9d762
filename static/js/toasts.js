// Short messages at the edge of the page: a few at a time, or one on a phone; gone when dismissed.

const MOST = 4;
const BRIEF = 8000; // ms, for what the page shows in its place as well
const BRIEFER = 5000; // ms, where it lies over the list
const narrow = matchMedia("(width < 64rem)"); // where my selections are not beside the list
const toasts = document.getElementById("toasts");

addEventListener("click", (event) => event.target.closest?.("[data-close-toast]")?.closest(".toast").remove());

new MutationObserver((changes) => {
  for (const added of changes.flatMap((change) => [...change.addedNodes])) {
    if (added.matches?.(".toast")) place(added);
  }
}).observe(toasts, { childList: true });

// The newest speaks for all before it on a phone; everywhere for its own section, the plan or the end of my time.
function place(toast) {
  const { about, brief } = toast.dataset;
  for (const other of [...toasts.children]) {
    const older = toast.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_PRECEDING;
    if (older && (narrow.matches || (about && other.dataset.about === about))) other.remove();
  }
  while (toasts.childElementCount > MOST) toasts.firstElementChild.remove();
  if (toast.querySelector(".toast-step")) return; // what can be done about it stays until it is dismissed
  if (narrow.matches) setTimeout(() => toast.remove(), BRIEFER);
  else if (brief !== undefined) setTimeout(() => toast.remove(), BRIEF);
}
