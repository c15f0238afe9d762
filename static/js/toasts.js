// Short news at the edge of the page: a few at a time, gone when dismissed.

const MOST = 4;
const BRIEF = 8000; // ms, for what the page shows in its place as well
const toasts = document.getElementById("toasts");

addEventListener("click", (event) => event.target.closest?.("[data-close-toast]")?.closest(".toast").remove());

new MutationObserver((changes) => {
  for (const added of changes.flatMap((change) => [...change.addedNodes])) {
    if (added.dataset?.brief !== undefined) setTimeout(() => added.remove(), BRIEF);
  }
  while (toasts.childElementCount > MOST) toasts.firstElementChild.remove();
}).observe(toasts, { childList: true });

addEventListener("htmx:sendError", (event) => {
  if (event.detail.requestConfig?.verb === "post") {
    say("We could not be reached", "Press again when you are online: it will not count twice.");
  }
});

function say(title, text) {
  const toast = document.createElement("div");
  toast.className = "toast";
  toast.dataset.tone = "stop";
  const words = toast.appendChild(document.createElement("div"));
  for (const line of [title, text]) words.appendChild(document.createElement("p")).textContent = line;
  words.firstElementChild.className = "toast-title";
  const close = toast.appendChild(document.createElement("button"));
  Object.assign(close, { type: "button", className: "toast-close", textContent: "×", ariaLabel: "Dismiss" });
  close.dataset.closeToast = "";
  toasts.append(toast);
}
