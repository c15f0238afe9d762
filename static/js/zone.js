// Tells the server the zone of this device, for the times that it writes, and says on the schedule by
// how much its clock differs.

const HOUR = 3_600_000;
const WEEK = 168 * HOUR;
const FIELDS = ["year", "month", "day", "hour", "minute"];

const note = document.getElementById("zone");
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

// The differences of the term's weeks, those that last longest first.
function differences({ zone, first, last }) {
  const weeks = new Map();
  for (let moment = Date.parse(first); moment <= Date.parse(last); moment += WEEK) {
    const hours = offset(here, moment) - offset(zone, moment);
    weeks.set(hours, (weeks.get(hours) ?? 0) + 1);
  }
  return [...weeks.keys()].sort((one, other) => weeks.get(other) - weeks.get(one));
}

// What people call the zone: "Central European Time".
function name(zone, language) {
  const named = new Intl.DateTimeFormat(language, { timeZone: zone, timeZoneName: "longGeneric" });
  return named.formatToParts().find((part) => part.type === "timeZoneName").value;
}

function say(hours, constant, { ahead, behind, varies }) {
  const language = document.documentElement.lang;
  const amount = { style: "unit", unit: "hour", unitDisplay: "long", maximumFractionDigits: 2 };
  const difference = new Intl.NumberFormat(language, amount).format(Math.abs(hours));
  const words = { zone: name(here, language), difference };
  const sentence = (hours > 0 ? ahead : behind).replace(/{(\w+)}/g, (_, word) => words[word]);
  note.textContent = constant ? sentence : `${sentence} ${varies}`;
  note.hidden = false;
}

if (here) document.cookie = `zone=${here}; path=/; max-age=31536000; samesite=lax`;

if (note && here) {
  const found = differences(note.dataset);
  const hours = found.find(Boolean);
  if (hours) say(hours, found.length === 1, note.dataset);
}
