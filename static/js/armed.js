// What a student presses before their turn is sent when the turn comes: a plan, and requests that were
// refused without an access token.

const MOST = 2; // times that one form is sent again

const form = () => document.querySelector(".plan-go");
const button = () => document.querySelector(".plan-submit");
const isWaiting = () => document.querySelector('.banner[data-phase="line"]') !== null;
const isIn = () => document.querySelector(".banner[data-until]") !== null;
const key = () => `fairseat-armed ${document.body.dataset.liveTerm}`;
const armed = () => sessionStorage.getItem(key()) !== null;
const tries = new WeakMap();

function arm(yes) {
  if (yes) sessionStorage.setItem(key(), "");
  else sessionStorage.removeItem(key());
  mark();
}

function mark() {
  if (!button()) return;
  if (isWaiting()) button().setAttribute("aria-pressed", armed());
  else button().removeAttribute("aria-pressed");
}

// The plan is sent as it is seen then, if the page is still there.
function fire() {
  mark();
  if (!isIn() || !button() || !armed()) return;
  arm(false);
  form().requestSubmit();
}

addEventListener("click", (event) => {
  if (!event.target.closest?.(".plan-submit") || !isWaiting()) return;
  event.preventDefault();
  arm(!armed());
  const note = armed() && form().querySelector("template[data-armed]");
  if (note) document.getElementById("toasts").append(note.content.firstElementChild.cloneNode(true));
}, true);

// A student who leaves the queue wants nothing sent.
addEventListener("submit", ({ target }) => {
  if (target.getAttribute("action")?.endsWith("/room/leave")) arm(false);
});

// The guard has sent it away: get in, and send it once more; or wait for one's turn with it.
addEventListener("htmx:beforeSwap", (event) => {
  const { requestConfig: { elt }, xhr } = event.detail;
  if (xhr.getResponseHeader("Fairseat-Gate") !== "pass") return;
  const tried = (tries.get(elt) ?? 0) + 1;
  if (tried > MOST) return;
  tries.set(elt, tried);
  event.detail.shouldSwap = false;
  event.detail.isError = false;
  enter(elt);
});

async function enter(refused) {
  const room = new URL(refused.getAttribute("action"), location.href).pathname.replace(/^(\/terms\/\d+)\/.*/, "$1/room");
  const body = new URLSearchParams({ csrf_token: refused.elements.csrf_token.value });
  const answer = await fetch(room, { method: "POST", body, headers: { "HX-Request": "true" } }).catch(() => null);
  const stands = answer?.headers.get("Fairseat-Gate");
  htmx.trigger(document.body, "fs:window");
  if (stands === "in") refused.requestSubmit();
  else if (refused !== form()) htmx.ajax("GET", refused.getAttribute("action"), "#dialog");
  else if (stands === "unproven") addEventListener("fs:proven", () => enter(refused), { once: true });
  else arm(true);
}

addEventListener("fs:in", fire);
for (const change of ["htmx:afterSettle", "htmx:oobAfterSwap"]) addEventListener(change, mark);
addEventListener("htmx:load", ({ detail: { elt } }) => { if (elt === document.body) fire(); });
new MutationObserver(mark).observe(document.body, { subtree: true, attributeFilter: ["data-phase"] });
