// Says what a search has found, in a place that screen readers have watched from the beginning.

const spoken = document.getElementById("spoken");

addEventListener("htmx:afterSwap", (event) => {
  if (event.detail.target?.id !== "results") return;
  spoken.textContent = document.getElementById("results-total")?.textContent ?? "";
});
