// What lies over the page has an entry of its own in the browser's history: Back closes it, and the
// page stays with its search.

let close = null; // closes what is open
let after = null; // is called once the entry is gone
let entered = false;
let leaving = false; // whether the entry is being left, as what it stood for was closed
let address = ""; // of the page, which may have changed behind what lies over it

export function opened(closes, then = () => {}) {
  [close, after] = [closes, then];
  enter();
}

export function closed() {
  close = null;
  if (!entered || leaving) return;
  leaving = true;
  history.back();
}

function enter() {
  if (entered) return;
  address = location.href;
  entered = true;
  history.pushState({ ...history.state, dialog: true }, "");
}

addEventListener("htmx:replacedInHistory", () => { address = location.href; });

// Before htmx handles it: htmx would load the page again.
addEventListener("popstate", (event) => {
  if (!entered) return;
  event.stopImmediatePropagation();
  entered = false;
  if (location.href !== address) history.replaceState(history.state, "", address);
  const again = leaving && close;
  leaving = false;
  if (again) enter();
  else close?.();
  setTimeout(after); // an address that ends in #main would take the focus there
}, true);
