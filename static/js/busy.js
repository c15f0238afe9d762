// A form is sent once: further presses do nothing until it has been answered. A button with other
// text for that time shows them at once, in a box that keeps its size.

const waiting = new WeakMap(); // forms, each with what gives its button its own text back

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
  const button = event.submitter ?? form.querySelector("[type=submit]");
  if (button?.dataset.doing) showDoing(form, button);
}, true);

function showDoing(form, button) {
  const content = [...button.childNodes];
  const { width, height } = button.getBoundingClientRect();
  Object.assign(button.style, { minInlineSize: `${width}px`, minBlockSize: `${height}px` });
  button.setAttribute("aria-disabled", "true");
  button.replaceChildren(button.dataset.doing);
  const spoken = form.closest("dialog")?.querySelector(".dialog-spoken") ?? document.getElementById("spoken");
  spoken.textContent = button.dataset.doing;
  waiting.set(form, () => {
    button.replaceChildren(...content);
    button.removeAttribute("style");
    button.removeAttribute("aria-disabled");
    spoken.textContent = "";
  });
}

addEventListener("htmx:afterRequest", (event) => release(event.detail.elt));

// A page that comes back from the browser's memory is not waiting for anything.
addEventListener("pageshow", (event) => {
  if (event.persisted) document.querySelectorAll("form[data-busy]").forEach(release);
});

export function release(form) {
  delete form.dataset?.busy;
  form.removeAttribute?.("aria-busy");
  waiting.get(form)?.();
  waiting.delete(form);
}
