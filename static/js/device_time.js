// Shows a time that is typed for the institution's zone in that of this device too, where they differ.

import { here, offset } from "./zone.js";

const HOUR = 3_600_000;
const language = document.documentElement.lang;

// The moment of a local time such as 2026-11-23T09:00 in a zone.
function moment(text, zone) {
  const local = Date.parse(`${text}Z`);
  const guess = local - offset(zone, local) * HOUR;
  return local - offset(zone, guess) * HOUR;
}

function say({ target: field }) {
  const { zone } = field.dataset ?? {};
  const note = zone && field.parentElement?.querySelector("[data-device-time]");
  if (!note || !here) return;
  const at = field.value ? moment(field.value, zone) : Number.NaN;
  const differs = !Number.isNaN(at) && offset(here, at) !== offset(zone, at);
  const style = { dateStyle: "medium", timeStyle: "short" };
  const time = differs ? new Intl.DateTimeFormat(language, style).format(at) : "";
  note.textContent = note.dataset.deviceTime.replace("{time}", `${time} (${here.replaceAll("_", " ")})`);
  note.hidden = !differs;
}

for (const event of ["input", "focusin"]) document.addEventListener(event, say);
for (const field of document.querySelectorAll("input[data-zone]")) say({ target: field });
