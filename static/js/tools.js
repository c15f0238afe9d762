// Buttons for what scripts alone can do: to copy a field, to show a password, and to print.

const COPIED = 2000; // ms for which the button says so

for (const button of document.querySelectorAll("[data-print]")) {
  button.addEventListener("click", () => print());
}

for (const button of document.querySelectorAll("[data-copy]")) {
  const label = button.textContent;
  button.addEventListener("click", () => {
    const field = document.getElementById(button.dataset.copy);
    field.select();
    copy(field.value).then(() => {
      button.textContent = button.dataset.copied;
      setTimeout(() => { button.textContent = label; }, COPIED);
    }, () => {}); // it stays selected, to be copied by hand
  });
}

for (const button of document.querySelectorAll("[data-show]")) {
  const field = document.getElementById(button.dataset.show);
  button.addEventListener("click", () => {
    const shown = field.type === "password";
    field.type = shown ? "text" : "password";
    button.setAttribute("aria-pressed", shown);
  });
}

// Browsers give the clipboard to safe addresses alone; the older way works on the others.
function copy(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  return document.execCommand("copy") ? Promise.resolve() : Promise.reject(new Error("no clipboard"));
}
