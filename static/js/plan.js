// My plan follows what is changed in other tabs, and rows say whether they are planned.

const plan = () => document.getElementById("plan");

const CATALOG = 2100; // ms, by which every server knows of it
const SPREAD = 1400;

let requests = 0; // only the newest answer is shown
let refreshTimer = 0;

async function refresh() {
  requests += 1;
  const number = requests;
  const answer = plan() && await fetch(plan().dataset.source).catch(() => null);
  if (!answer?.ok || answer.redirected) return;
  const text = await answer.text();
  if (number === requests) dispatchEvent(new CustomEvent("fs:fragments", { detail: text }));
}

// The sum of a plan and its likely refusals depend on my classes.
function follow() {
  const { mark: known } = plan()?.dataset ?? {};
  if (known && known !== document.getElementById("mine")?.dataset.mark) refresh();
}

// A plan changes when one of its sections is canceled, or offered again.
function checkSections(text) {
  if (!plan()) return;
  const [planned, gone] = ["sections", "gone"].map((name) => new Set(plan().dataset[name].split(" ")));
  for (const [, id, facts] of text.matchAll(/id="seats-(\d+)"([^>]*)>/g)) {
    const canceled = facts.includes('data-closed="canceled"');
    const changes = gone.has(id) ? !facts.includes("data-closed") : canceled;
    if (planned.has(id) && changes) {
      clearTimeout(refreshTimer);
      refreshTimer = setTimeout(refresh, CATALOG + Math.random() * SPREAD);
    }
  }
}

function mark() {
  if (!plan()) return;
  const planned = new Set(plan().dataset.sections.split(" "));
  for (const button of document.querySelectorAll(".row-plan")) {
    const is = planned.has(button.value);
    button.setAttribute("aria-pressed", is);
    button.name = is ? "remove" : "add"; // so that a second press in a hurry asks for the same
  }
}

// Where counts are shown twice, the first of them is live and the others follow it.
function echo() {
  for (const place of document.querySelectorAll("[data-counts]")) {
    const id = place.dataset.counts;
    const own = place.firstElementChild;
    own.removeAttribute("id");
    const shown = document.getElementById(id);
    if (shown) {
      const copy = shown.cloneNode(true);
      copy.removeAttribute("id");
      if (!copy.isEqualNode(own)) own.replaceWith(copy);
    } else {
      own.id = id;
    }
  }
}

// Whoever waits for the opening with a key under the finger keeps the button when it wakes.
new MutationObserver(() => {
  if (document.activeElement?.matches(".plan-asleep")) plan().querySelector(".plan-submit").focus();
}).observe(document.body, { subtree: true, attributeFilter: ["data-phase"] });

addEventListener("htmx:wsBeforeMessage", ({ detail: { message } }) => checkSections(message));
addEventListener("fs:fragments", ({ detail }) => checkSections(detail));
addEventListener("fs:plan", (event) => {
  if (event.detail.version !== Number(plan()?.dataset.seq)) refresh();
});
document.addEventListener("visibilitychange", () => { if (!document.hidden) refresh(); });
addEventListener("pageshow", (event) => { if (event.persisted) refresh(); });
for (const change of ["htmx:afterSettle", "htmx:oobAfterSwap"]) {
  addEventListener(change, () => { mark(); echo(); });
}
addEventListener("htmx:oobAfterSwap", ({ detail: { target } }) => {
  if (target.id === "mine") setTimeout(follow); // the same answer may bring the plan too
});
echo();
