// Sends the zone of this device to the server, for the times and notes that it writes.

const HOUR = 3_600_000;
const FIELDS = ["year", "month", "day", "hour", "minute"];
const NOTES = ["zone", "device-zone"];

export const here = Intl.DateTimeFormat().resolvedOptions().timeZone;

// Hours by which the clocks of a zone are ahead of UTC at a moment.
export function offset(zone, moment) {
  const numbers = Object.fromEntries(FIELDS.map((field) => [field, "numeric"]));
  const clock = new Intl.DateTimeFormat("en", { timeZone: zone, hourCycle: "h23", ...numbers });
  const { year, month, day, hour, minute } = Object.fromEntries(
    clock.formatToParts(moment).map((part) => [part.type, Number(part.value)]),
  );
  return (Date.UTC(year, month - 1, day, hour, minute) - moment) / HOUR;
}

// This page was drawn for another zone, as on a first visit: take its notes from a new copy.
async function renew() {
  const answer = await fetch(location.href, { headers: { Accept: "text/html" } }).catch(() => null);
  if (!answer?.ok) return;
  const copy = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const id of NOTES) {
    const note = copy.getElementById(id);
    if (note) document.getElementById(id)?.replaceWith(note);
  }
}

const { zone, device } = document.getElementById("device-zone")?.dataset ?? {};
if (here) document.cookie = `zone=${here}; path=/; max-age=31536000; samesite=lax`;
if (here && zone && here !== (device || zone)) renew();
