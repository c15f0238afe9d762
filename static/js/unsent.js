// A request that gets no answer says so where the student looks, until they act again.

const ASKED = ["click", "submit", "change", "input", "keyup", "search"]; // what people do, not scripts
const dialog = document.getElementById("dialog");
const notes = new Map(); // by the place that was to change, what is said of it

// Whether somebody has asked for it, and not the page by itself.
const isAsked = ({ elt, requestConfig }) =>
  elt === document.body || ASKED.includes(requestConfig.triggeringEvent?.type);

function say(detail) {
  if (!isAsked(detail)) return;
  const { verb } = detail.requestConfig;
  const whole = detail.target === dialog && !dialog.contains(detail.elt);
  const made = document.querySelector(whole ? "#unsent-dialog" : "#unsent").content.cloneNode(true);
  for (const words of made.querySelectorAll("[data-of]")) {
    if (words.dataset.of !== (verb === "get" ? "get" : "post")) words.remove();
  }
  made.querySelector("[data-retry]").addEventListener("click", (event) => retry(detail, event));
  forget(detail.target);
  if (whole) dispatchEvent(new CustomEvent("fs:dialog", { detail: made }));
  else put(made.firstElementChild, detail);
}

// In a dialog above the buttons, or else beside what was pressed; above a list that was asked for.
function put(note, { elt, target, requestConfig }) {
  notes.set(target, note);
  const foot = elt.querySelector?.(".dialog-foot");
  if (foot) {
    note.querySelector("[data-retry]").remove(); // the form has its own button
    foot.before(note);
  } else if (dialog.contains(elt) || requestConfig.verb !== "get") elt.after(note);
  else target.before(note);
  note.scrollIntoView({ block: "nearest" });
}

function retry({ elt, target, requestConfig: { verb, path } }, event) {
  if (verb !== "get" && elt.isConnected) elt.requestSubmit();
  else htmx.ajax(verb, path, { source: elt.isConnected ? elt : document.body, target, event }).catch(() => {});
}

function forget(target) {
  notes.get(target)?.remove();
  notes.delete(target);
}

for (const failure of ["htmx:sendError", "htmx:timeout"]) {
  addEventListener(failure, ({ detail }) => say(detail));
}

// Whoever asks for the same again waits for another answer.
addEventListener("htmx:beforeRequest", ({ detail }) => forget(detail.target));
dialog.addEventListener("close", () => forget(dialog));

// What went wrong before is over once something that was asked for has come.
addEventListener("htmx:afterRequest", ({ detail }) => {
  if (!detail.successful || !isAsked(detail)) return;
  for (const toast of document.querySelectorAll(".toast[data-error]")) toast.remove();
});
