// Whoever asks for more of a list goes on with the first of what has come.

let known = 0;

addEventListener("htmx:beforeSwap", (event) => {
  const { target } = event.detail;
  if (target.id !== "more" || !target.contains(document.activeElement)) return;
  known = document.querySelectorAll(".section-row").length;
});

addEventListener("htmx:afterSettle", () => {
  if (!known) return;
  const first = document.querySelectorAll(".section-row")[known];
  known = 0;
  first?.querySelector("summary, a[href]")?.focus({ preventScroll: true });
});
