#!lua name=room

-- The waiting room of each selection window. A seed orders the students who came before the opening;
-- later ones queue behind them. The room's limits decide how many are admitted. The room is stored
-- beside the ledger's windows, so that both open by the same clock. portal/waiting_room/room.py reads
-- the constants below.
--
-- KEYS[1] is the term's prefix, "{t:7}". ARGV[1] is a JSON object with the window; the reply is JSON
-- too. Joins, departures and admissions are events in the journal. Times are ms by the server's clock.
-- A request, 32 hex digits, is one student's entry.
-- Under "{t:7}:room:<window>":
--
--   (itself)  hash: seed, called, late, per_minute, at_once, off, allowance, allowed_at, right, wrong,
--             heard, patient, recorded, public (the public value of the draw), share, share_at
--   :line     zset: request by score, for good: below 1 came early, from 1 on late
--   :who      hash: request -> student:at             :mine  hash: student -> request
--   :seen     zset: request by last heartbeat      :in    zset: student by end of the visit
--   :away     zset: request by end of its last chance :back  zset: request by score, came back
--   :pace     hash: half a minute -> entries passed in it    :estimates  hash: request -> at:least:most
--   :came     hash: student -> when the visit began   :left  hash: student -> request
--   :done     hash: idempotency key -> outcome of what an admin or a program did to the room
--   :gone     zset: request by score, of students who left before their turn
--   :drawn    hash: student -> score under the public value

local PATIENCE = 240000 -- ms without a heartbeat until an entry is skipped
local SILENCE = 30000      -- ms without a heartbeat from any student: the portal receives nothing
local CHANCE = 1800000  -- ms in which a skipped student may come back to the front
local TAKE = 60000      -- ms to come in once called
local BURST = 10000     -- ms of admissions that may come at once
local START = 1000      -- the same at the opening, when all other students need answers too
local LONGEST = 900000  -- ms: the longest visit while others wait
local SLOT = 30000      -- ms: the queue's moves are counted in slots of this length
local SLOTS = 20        -- how many slots are kept
local STEP = 1000       -- ms between two cuts of the share of the limit that is admitted
local MOST = 500        -- positions read in one step, so that others get answers meanwhile
local LAST = 30000      -- ms before the opening: a public value must be there by then
local KEEP = 86400000   -- ms from the end of a window until its room is removed

local Room = {}
Room.__index = Room

local function number(value) return tonumber(value) or 0 end

function Room.begin(keys, args)
  local ask = cjson.decode(args[1])
  return Room.of(keys[1], ask.window, redis.call("HGET", keys[1] .. ":windows", ask.window), ask)
end

-- Return the room of a window; `json` is the window as the ledger stores it, nil if unknown.
function Room.of(term, id, json, ask)
  local time, window = redis.call("TIME"), json and cjson.decode(json) or {}
  local room = setmetatable({ ask = ask, term = term, window = tonumber(id) }, Room)
  room.base = term .. ":room:" .. id
  room.at = time[1] * 1000 + math.floor(time[2] / 1000)
  room.opens, room.closes = number(window.opens), number(window.closes)
  room.phase = json and room:phase_of(window.state) or "unknown"
  return room
end

function Room:key(kind) return self.base .. ":" .. kind end

function Room:field(name) return redis.call("HGET", self.base, name) end

function Room:phase_of(state)
  if state ~= "scheduled" or self.at >= self.closes then return "ended" end
  return self.at >= self.opens and "open" or "before"
end

function Room:limits()
  local ask = self.ask
  local per_minute = tonumber(self:field("per_minute")) or ask.per_minute
  return per_minute, tonumber(self:field("at_once")) or ask.at_once, ask.open or self:field("off") == "1"
end

function Room:state()
  local per_minute, at_once, off = self:limits()
  local pace, flat = {}, redis.call("HGETALL", self:key("pace"))
  local inside = redis.call("ZCOUNT", self:key("in"), "(" .. self.at, "+inf")
  local free = off and MOST or math.max(0, math.floor(math.min(self:gained(per_minute), at_once - inside)))
  for i = 1, #flat, 2 do pace[#pace + 1] = { tonumber(flat[i]) * SLOT, tonumber(flat[i + 1]) } end
  return {
    at = self.at, opens = self.opens, phase = self.phase, per_minute = per_minute, at_once = at_once, off = off,
    line = redis.call("ZCARD", self:key("line")), called = number(self:field("called")),
    waiting = self:waiting(), pace = pace,
    inside = inside, free = free, share = self:share(),
    right = number(self:field("right")), wrong = number(self:field("wrong")),
  }
end

-- Return a student's entry; one that is gone is removed, so it is reported once.
function Room:take_entry(student)
  local entry = self:entry(student)
  if entry.kind == "gone" then redis.call("HDEL", self:key("mine"), student) end
  return entry
end
