// A form is sent once: further presses do nothing until it has been answered.

addEventListener("submit", (event) => {
  const form = event.target;
  if (form.getAttribute("method") !== "post") return; // a field may be called "method"
  if (form.dataset.busy) {
    event.preventDefault();
    event.stopImmediatePropagation();
    return;
  }
  form.dataset.busy = "yes";
  form.setAttribute("aria-busy", "true");
}, true);

addEventListener("htmx:afterRequest", (event) => release(event.detail.elt));

// A page that comes back from the browser's memory is not waiting for anything.
addEventListener("pageshow", (event) => {
  if (event.persisted) document.querySelectorAll("form[data-busy]").forEach(release);
});

export function release(form) {
  delete form.dataset?.busy;
  form.removeAttribute?.("aria-busy");
}
