// A request that gets no answer says so where the student looks, until they act again.

const ACTIONS = ["click", "submit", "change", "input", "keyup", "search"]; // what people do, not scripts
const dialog = document.getElementById("dialog");
const notes = new Map(); // by the element that was to change

// Whether a person sent the request, and not the page by itself.
const isByPerson = ({ elt, requestConfig }) =>
  elt === document.body || ACTIONS.includes(requestConfig.triggeringEvent?.type);

function say(detail) {
  if (!isByPerson(detail)) return;
  const { verb } = detail.requestConfig;
  const whole = detail.target === dialog && !dialog.contains(detail.elt);
  const made = document.querySelector(whole ? "#unsent-dialog" : "#unsent").content.cloneNode(true);
  for (const text of made.querySelectorAll("[data-of]")) {
    if (text.dataset.of !== (verb === "get" ? "get" : "post")) text.remove();
  }
  made.querySelector("[data-retry]").addEventListener("click", (event) => retry(detail, event));
  forget(detail.target);
  if (whole) dispatchEvent(new CustomEvent("fs:dialog", { detail: made }));
  else put(made.firstElementChild, detail);
}

// In a dialog above the buttons, or else beside what was pressed, or above a requested list.
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

// A new request for the same element waits for another answer.
addEventListener("htmx:beforeRequest", ({ detail }) => forget(detail.target));
dialog.addEventListener("close", () => forget(dialog));

// Errors before are over once a person's request has succeeded.
addEventListener("htmx:afterRequest", ({ detail }) => {
  if (!detail.successful || !isByPerson(detail)) return;
  for (const toast of document.querySelectorAll(".toast[data-error]")) toast.remove();
});
