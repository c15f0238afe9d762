// One socket per page for what the page shows; while there is none, a poll now and then.

const BANNER_AFTER = 3000;
const POLL = [8000, 15000];
const SPREAD = [0, 2000];
const ROWS = [200, 1500]; // until rows that clash with a change are drawn again
const SILENCE = 25000;
const ANSWER_WITHIN = 4000;
const REFUSED = 1008; // the server has ended the session, or considers the page's messages malformed
const MISSED = ["window", "roster", "plan", "notice", "recorded"];
const BY_HTMX = [1006, 1011, 1012, 1013]; // closings after which the extension connects again

let socket = null;
let wire = null; // the extension's handle on the socket
let subscribed = ""; // the last subscription that was sent
let opened = false;
let receivedAt = 0;
let bannerTimer = 0;
let pollTimer = 0;
let subscribeTimer = 0;
let rowsTimer = 0;
let changed = false; // whether rows may clash with a change, and were not drawn since

const banner = document.getElementById("connection");

const between = ([least, most]) => least + Math.random() * (most - least);
const isOpen = () => socket?.readyState === WebSocket.OPEN;

function ids(selector, prefix) {
  const found = [...document.querySelectorAll(selector)];
  return found.map((element) => Number(element.id.slice(prefix.length))).slice(0, 400);
}

// What this page shows: counts, a roster, a student's record, a waiting room; and what it shows of the student.
function subscription() {
  if (document.querySelector("[data-operations]")) return { shows: { operations: true }, own: { held: [] } };
  const term = Number(document.querySelector("[data-live-term]")?.dataset.liveTerm);
  const roster = Number(document.querySelector("[data-live-roster]")?.dataset.liveRoster);
  const student = Number(document.querySelector("[data-live-student]")?.dataset.liveStudent);
  const room = Number(document.querySelector("[data-room]")?.dataset.room);
  const staff = "staff" in document.body.dataset; // their counts have another text
  // The plan follows what becomes of its sections, also where no row shows them.
  const planned = (document.getElementById("plan")?.dataset.sections ?? "").split(" ").filter(Boolean).map(Number);
  const sections = [...new Set([...planned, ...ids('[id^="seats-"]', "seats-")])].slice(0, 400);
  const held = ids('[id^="act-"][data-held]', "act-");
  const refused = ids('[id^="act-"][data-why]', "act-"); // may be open after a drop, or beside another class
  const mark = document.getElementById("mine")?.dataset.mark ?? "";
  const others = Object.fromEntries(Object.entries({ roster, student, room, staff }).filter(([, id]) => id));
  return { shows: { term, sections, ...others }, own: { held, refused, mark } };
}

function subscribe(section, fresh = false) {
  const { shows, own } = subscription();
  if (fresh) own.mark = "";
  const text = JSON.stringify(shows);
  if (!isOpen() || (text === subscribed && section === undefined)) return;
  subscribed = text;
  if (section) own.held.push(section);
  socket.send(JSON.stringify({ ...shows, ...own }));
}

function lost() {
  bannerTimer ||= setTimeout(() => { banner.hidden = false; }, BANNER_AFTER);
  pollTimer ||= setTimeout(poll, pause());
}

function found() {
  clearTimeout(bannerTimer);
  clearTimeout(pollTimer);
  bannerTimer = pollTimer = 0;
  banner.hidden = true;
  document.getElementById("logged-out").hidden = true;
}

// Whether an answer has just come, or failed to come: what is pressed is sent or is not.
function reached(yes) {
  if (yes || !navigator.onLine || !isOpen()) banner.toggleAttribute("data-offline", !yes);
  if (!navigator.onLine) banner.hidden = false;
  else if (isOpen()) banner.hidden = true;
}

// After a new login, in another tab or here, this page is as it was.
function loggedOut() {
  clearTimeout(bannerTimer);
  banner.hidden = true;
  const note = document.getElementById("logged-out");
  const link = note.querySelector("a");
  const login = new URL(link.href);
  login.searchParams.set("next", location.pathname + location.search);
  link.href = login.href;
  note.hidden = false;
}

addEventListener("fs:logged-out", loggedOut);

// In a waiting room, the server says how often to poll, and only the queue position is asked for.
const pause = () => Number(document.querySelector("[data-poll]")?.dataset.poll) * 1000 || between(POLL);

function applyPoll({ signal, poll: seconds }) {
  for (const element of document.querySelectorAll("[data-poll]")) element.dataset.poll = seconds;
  if (signal) htmx.trigger(document.body, `fs:${signal.name}`, signal.detail);
}

async function poll() {
  clearTimeout(pollTimer);
  pollTimer = setTimeout(poll, pause());
  if (document.hidden || !navigator.onLine) return;
  const { shows, own } = subscription();
  if (changed) own.mark = "";
  const waits = document.querySelector("[data-poll]");
  const query = new URLSearchParams(waits ? shows : { ...shows, ...own });
  const answer = await fetch(`/live/${waits ? "room" : "fragments"}?${query}`).catch(() => null);
  reached(Boolean(answer));
  if (!answer?.ok || isOpen()) return;
  if (answer.redirected) return loggedOut();
  if (waits) return applyPoll(await answer.json());
  changed = false;
  dispatchEvent(new CustomEvent("fs:fragments", { detail: await answer.text() }));
}

function reconnect() {
  if (!wire || socket.readyState === WebSocket.CONNECTING) return;
  socket.onclose = null; // a dead socket may take minutes to close
  wire.reconnect();
}

// Ask for a reply on a socket that may be dead.
function check() {
  if (!isOpen()) return;
  const since = receivedAt;
  socket.send("{}");
  const current = socket;
  setTimeout(() => { if (current === socket && receivedAt === since) reconnect(); }, ANSWER_WITHIN);
}

function wake() {
  if (document.hidden) return;
  if (isOpen()) return check();
  lost();
  poll();
  reconnect();
}

function start() {
  if (!document.querySelector("[data-live-term], [data-operations]")) return;
  // Who views a student's pages gets no socket.
  if ("viewing" in document.body.dataset) return (pollTimer = setTimeout(poll, pause()));
  htmx.createWebSocket = (url) => (socket = new WebSocket(url));
  htmx.config.wsReconnectDelay = (failures) => 200 + Math.random() * Math.min(1000 * 2 ** failures, 15000);
  // The extension connects when htmx looks at the page, which it does after this script.
  document.body.setAttribute("hx-ext", "ws, fragments");
  document.body.setAttribute("ws-connect", "/ws");
  lost();
  setInterval(() => { if (Date.now() - receivedAt > SILENCE) check(); }, SILENCE);
  addEventListener("online", wake);
  addEventListener("online", () => reached(true));
  addEventListener("offline", () => reached(false));
  addEventListener("htmx:afterOnLoad", () => reached(true));
  for (const failure of ["htmx:sendError", "htmx:timeout"]) addEventListener(failure, () => reached(false));
  addEventListener("pageshow", (event) => { if (event.persisted) wake(); });
  document.addEventListener("visibilitychange", wake);
}

addEventListener("htmx:wsOpen", (event) => {
  wire = event.detail.socketWrapper;
  if (event.detail.event.target !== socket) return event.detail.event.target.close();
  subscribed = "";
  receivedAt = Date.now();
  found();
  subscribe();
  if (opened) setTimeout(missed, between(SPREAD));
  opened = true;
});

// Counts and the student's own state come by the socket; the rest is asked for.
function missed() {
  for (const name of MISSED) htmx.trigger(document.body, `fs:${name}`);
}

addEventListener("htmx:wsClose", (event) => {
  wire = event.detail.socketWrapper;
  const closed = event.detail.event;
  if (closed.target !== socket) return;
  lost();
  if (closed.code === REFUSED) setTimeout(poll, 1000); // when this browser has forgotten the session
  if (!BY_HTMX.includes(closed.code)) setTimeout(() => { if (!isOpen()) reconnect(); }, between([1000, 4000]));
});

addEventListener("htmx:wsBeforeMessage", (event) => {
  receivedAt = Date.now();
  if (!event.detail.message.startsWith("{")) return;
  event.preventDefault();
  const { name, detail, between: when } = JSON.parse(event.detail.message);
  setTimeout(() => htmx.trigger(document.body, `fs:${name}`, detail), between(when));
});

// Something that the student did, perhaps on another page: this one may show it already.
addEventListener("fs:own", (event) => {
  const { section = 0, state } = event.detail;
  const cell = document.getElementById(`act-${section}`);
  if (!cell || (cell.dataset.state ?? "") !== state) subscribe(section);
  else rowsTimer ||= setTimeout(() => { rowsTimer = 0; subscribe(section, true); }, between(ROWS));
});

// Other rows may clash with it: without a socket, the next poll brings them.
addEventListener("fs:close", () => { changed = !isOpen(); });

// Another page of the list, other filters or the open picker show other sections.
addEventListener("htmx:afterSettle", () => {
  clearTimeout(subscribeTimer);
  subscribeTimer = setTimeout(() => subscribe(), 100);
});

start();
