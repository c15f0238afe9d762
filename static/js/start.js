// Adds the page's scripts after its styles, so that the first paint does not wait for both.
// A deferred script runs when the styles are here.

const { script: address } = document.currentScript.dataset;

document.addEventListener("DOMContentLoaded", () => {
  const script = document.createElement("script");
  script.src = address;
  document.head.append(script);
}, { once: true });
