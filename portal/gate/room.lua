#!lua name=room

-- The waiting room of each selection window: who came before it opened is in an order that a seed
-- gives, who came later stands behind, and so many are called in as its limits allow. It stands
-- beside the ledger's windows, so that both open by the same clock. The numbers below are the only
-- ones: portal/gate/room.py reads them here, for what pages say and for the tests' own room.
--
-- KEYS[1] is the term's prefix, "{t:7}". ARGV[1] is a JSON object with the window, and so is the
-- reply. Times are ms by the server's clock. A request, 32 hex digits, is one student's place.
-- Under "{t:7}:room:<window>":
--
--   (itself)  hash: seed, called, late, per_minute, at_once, off, allowance, allowed_at, right, wrong,
--             heard, patient
--   :line     zset: request by score, for good: below 1 came early, from 1 on late
--   :who      hash: request -> student:at             :mine  hash: student -> request
--   :seen     zset: request by last sign of life      :in    zset: student by end of the visit
--   :away     zset: request by end of its last chance :back  zset: request by score, came back
--   :pace     hash: half a minute -> places called in it    :said  hash: request -> at:least:most
--   :came     hash: student -> when the visit began   :left  hash: student -> request

local PATIENCE = 240000 -- ms without a sign of life until a place is skipped
local DEAF = 30000      -- ms without any sign of life at all: it is we who hear nothing
local CHANCE = 1800000  -- ms in which who was skipped may come back, to the front
local TAKE = 60000      -- ms to come in once called
local BURST = 10000     -- ms of new ones that may come at once
local LONGEST = 900000  -- ms of a visit while others wait, however busy it is
local SLOT = 30000      -- ms in which it is counted how far the line came
local SLOTS = 20        -- of these that are kept
local MOST = 500        -- places looked at in one step: others are to be answered meanwhile
local KEEP = 86400000   -- ms from the end of a window until its room is tidied up

local Room = {}
Room.__index = Room

local function number(value) return tonumber(value) or 0 end

function Room.begin(keys, args)
  local ask = cjson.decode(args[1])
  return Room.of(keys[1], ask.window, redis.call("HGET", keys[1] .. ":windows", ask.window), ask)
end

-- The room of a window that the ledger keeps as this JSON, if it does.
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

-- Places ----------------------------------------------------------------------------------------

function Room:place(student)
  local id = redis.call("HGET", self:key("mine"), student)
  if not id then return {} end
  local place = { request = id, since = tonumber(redis.call("HGET", self:key("who"), id):match(":(%d+)")) }
  if self.phase == "before" then
    place.kind = "early"
    return place
  end
  place.number = redis.call("ZRANK", self:key("line"), id) + 1
  local back, ends = redis.call("ZRANK", self:key("back"), id), self:inside(student)
  if ends then
    place.kind, place.ends = "called", ends
  elseif back then
    place.kind, place.ahead = "waiting", back
  elseif place.number > number(self:field("called")) then
    local before = redis.call("ZCARD", self:key("back"))
    place.kind, place.ahead = "waiting", place.number - number(self:field("called")) - 1 + before
  else
    place.kind = "gone"
  end
  return place
end

function Room:waiting()
  local line, back = redis.call("ZCARD", self:key("line")), redis.call("ZCARD", self:key("back"))
  return line - number(self:field("called")) + back
end

-- When the visit of who has been called ends; nil for others.
function Room:inside(student)
  local ends = tonumber(redis.call("ZSCORE", self:key("in"), student))
  return ends and ends > self.at and ends or nil
end

-- After a silence of all, nobody is skipped until everyone has had the time to be heard again.
function Room:hear()
  if self.phase == "unknown" then return end -- anyone may ask for any number
  local heard = number(self:field("heard"))
  if heard > 0 and self.at - heard > DEAF then redis.call("HSET", self.base, "patient", self.at + PATIENCE) end
  redis.call("HSET", self.base, "heard", self.at)
end

-- A sign of life; who was skipped, or called and did not come, stands at the front again.
function Room:touch(student)
  self:hear()
  local id = redis.call("HGET", self:key("mine"), student)
  if not id then return end
  redis.call("ZADD", self:key("seen"), self.at, id)
  if self:inside(student) then return end
  local chance = tonumber(redis.call("ZSCORE", self:key("away"), id))
  if not chance then return end
  redis.call("ZREM", self:key("away"), id)
  if chance > self.at then
    redis.call("ZADD", self:key("back"), redis.call("ZSCORE", self:key("line"), id), id)
  end
end

-- Nobody draws twice: who left the line has the place there was.
function Room:back(student)
  local left = redis.call("HGET", self:key("left"), student)
  if not left then return end
  redis.call("HSETNX", self:key("mine"), student, left)
  redis.call("HDEL", self:key("left"), student)
end

-- A new place; the fraction, in [0, 1), orders those who come early. A clock that went back, as after
-- a failover, makes nobody early once someone was called.
function Room:join()
  local ask, score = self.ask, self.ask.fraction
  local begun = number(self:field("called")) + number(self:field("late")) > 0
  if self.phase == "open" or begun then score = redis.call("HINCRBY", self.base, "late", 1) end
  redis.call("ZADD", self:key("line"), score, ask.request)
  redis.call("HSET", self:key("who"), ask.request, ask.student .. ":" .. self.at)
  redis.call("HSET", self:key("mine"), ask.student, ask.request)
  redis.call("ZADD", self:key("seen"), self.at, ask.request)
end

-- Calling in --------------------------------------------------------------------------------------

function Room:allowance()
  local per_minute, at_once, off = self:limits()
  if off then return MOST end
  local most = math.max(1, per_minute * BURST / 60000)
  if per_minute == 0 then most = 0 end
  local gained = math.max(0, self.at - number(self:field("allowed_at"))) * per_minute / 60000
  self.allowed = math.min(most, math.max(0, number(self:field("allowance"))) + gained)
  redis.call("ZREMRANGEBYSCORE", self:key("in"), "-inf", self.at)
  return math.floor(math.min(self.allowed, at_once - redis.call("ZCARD", self:key("in"))))
end

function Room:alive(id)
  local seen = tonumber(redis.call("ZSCORE", self:key("seen"), id)) -- nil: has left
  return seen and (seen + PATIENCE > self.at or number(self:field("patient")) > self.at)
end

-- The next one to be called, nil where nobody waits; skips who has left or shows no sign of life.
function Room:next()
  while self.looked < MOST do
    self.looked = self.looked + 1
    local id = redis.call("ZPOPMIN", self:key("back"))[1]
    if not id then
      id = redis.call("ZRANGE", self:key("line"), self.called, self.called)[1]
      if not id then return nil end
      self.called = self.called + 1
    end
    local student = redis.call("HGET", self:key("who"), id):match("^%d+")
    if redis.call("HGET", self:key("mine"), student) == id then
      redis.call("ZADD", self:key("away"), self.at + CHANCE, id)
      if self:alive(id) then return id, student end
      redis.call("HDEL", self:key("said"), id)
    end
  end
end

-- Whether the wait was within the range that was shown; nothing is held against who slept.
function Room:compare(id)
  local at, least, most = (redis.call("HGET", self:key("said"), id) or ""):match("(%d+):(%d+):(%d+)")
  if not at then return end
  redis.call("HDEL", self:key("said"), id)
  local waited = self.at - at
  local right = waited >= tonumber(least) and waited <= tonumber(most)
  redis.call("HINCRBY", self.base, right and "right" or "wrong", 1)
end

function Room:note_pace(count)
  local pace, slot = self:key("pace"), math.floor(self.at / SLOT)
  redis.call("HINCRBY", pace, slot, count)
  for _, each in ipairs(redis.call("HKEYS", pace)) do
    if tonumber(each) <= slot - SLOTS then redis.call("HDEL", pace, each) end
  end
end

function Room:step()
  if self.phase ~= "open" or self:waiting() == 0 then return end
  if self.at - number(self:field("heard")) > DEAF then return end -- nobody would come
  self.called, self.looked = number(self:field("called")), 0
  local before, allowed, called = self.called, self:allowance(), {}
  while #called < allowed do
    local id, student = self:next()
    if not id then break end
    called[#called + 1] = tonumber(student)
    redis.call("ZADD", self:key("in"), self.at + TAKE, student)
    self:compare(id)
  end
  if self.allowed then
    redis.call("HSET", self.base, "allowance", self.allowed - #called, "allowed_at", self.at)
  end
  if self.called == before and #called == 0 then return end
  redis.call("HSET", self.base, "called", self.called)
  self:note_pace(self.called - before)
  self:tell(called)
end

function Room:tell(called)
  local news = self:state()
  news.window, news.students = self.window, called
  redis.call("PUBLISH", self.term .. ":room", cjson.encode(news))
end

-- What nobody needs any more is given back; the order stays, for whoever checks it.
function Room:tidy()
  if self.phase ~= "ended" or self.at < self.closes + KEEP then return end
  local keys = {}
  for _, kind in ipairs({ "mine", "left", "came", "seen", "in", "away", "back", "pace", "said" }) do
    keys[#keys + 1] = self:key(kind)
  end
  redis.call("UNLINK", unpack(keys))
end

-- Doors -------------------------------------------------------------------------------------------

function Room:state()
  local per_minute, at_once, off = self:limits()
  local pace, flat = {}, redis.call("HGETALL", self:key("pace"))
  for i = 1, #flat, 2 do pace[#pace + 1] = { tonumber(flat[i]) * SLOT, tonumber(flat[i + 1]) } end
  return {
    at = self.at, opens = self.opens, phase = self.phase, per_minute = per_minute, at_once = at_once, off = off,
    line = redis.call("ZCARD", self:key("line")), called = number(self:field("called")),
    waiting = self:waiting(), pace = pace,
    inside = redis.call("ZCOUNT", self:key("in"), "(" .. self.at, "+inf"),
    right = number(self:field("right")), wrong = number(self:field("wrong")),
  }
end

function Room:report(student)
  local place = self:place(student)
  if place.kind == "gone" then redis.call("HDEL", self:key("mine"), student) end
  return { place = place, state = self:state() }
end

local function register(name, act, flags)
  redis.register_function({
    function_name = "room_" .. name,
    callback = function(keys, args) return cjson.encode(act(Room.begin(keys, args))) end,
    flags = flags or {},
  })
end

local function enter(room)
  local ask = room.ask
  if room.phase ~= "before" and room.phase ~= "open" then return { error = room.phase } end
  if room:field("seed") ~= ask.seed then return { error = "seed" } end
  room:back(ask.student)
  room:touch(ask.student)
  local place = room:place(ask.student)
  if not place.kind or place.kind == "gone" then room:join() end
  room:step()
  return room:report(ask.student)
end

local function look(room)
  room:touch(room.ask.student)
  room:step()
  return room:report(room.ask.student)
end

-- Signs of life of many who wait; gives those who do so no more, or were skipped.
local function touch(room)
  local students, seen, others = room.ask.students, {}, {}
  room:hear()
  local ids = redis.call("HMGET", room:key("mine"), unpack(students))
  for i, id in ipairs(ids) do
    if id and not redis.call("ZSCORE", room:key("away"), id) and not room:inside(students[i]) then
      seen[#seen + 1] = room.at
      seen[#seen + 1] = id
    else
      others[#others + 1] = students[i]
    end
  end
  if #seen > 0 then redis.call("ZADD", room:key("seen"), unpack(seen)) end
  return { others = others }
end

-- Come in, or go on staying, where one's turn is; not for ever while others wait.
local function stay(room)
  local ask, ends = room.ask, room.at + room.ask.stay
  local inside = room:inside(ask.student)
  if room.phase ~= "open" or not inside then return {} end
  if redis.call("ZREM", room:key("away"), redis.call("HGET", room:key("mine"), ask.student)) == 1 then
    redis.call("HSET", room:key("came"), ask.student, room.at)
  elseif room:waiting() > 0 then
    local came = number(redis.call("HGET", room:key("came"), ask.student))
    ends = math.max(inside, math.min(ends, came + LONGEST))
  end
  redis.call("ZADD", room:key("in"), ends, ask.student)
  return { ends = ends }
end

-- A visit that is over ends the place with it; who left the line finds the same place again.
local function leave(room)
  local student = room.ask.student
  local id = redis.call("HGET", room:key("mine"), student)
  if not id then return {} end
  if not room:inside(student) then redis.call("HSET", room:key("left"), student, id) end
  redis.call("HDEL", room:key("mine"), student)
  redis.call("ZREM", room:key("in"), student)
  redis.call("ZREM", room:key("seen"), id)
  redis.call("ZREM", room:key("back"), id)
  room:step()
  return {}
end

local function say(room)
  local ask = room.ask
  redis.call("HSETNX", room:key("said"), ask.request, room.at .. ":" .. ask.least .. ":" .. ask.most)
  return {}
end

-- Whether the limits are others than they were seen to be, and not those that are asked for.
local function overtaken(room)
  local per_minute, at_once, off = room:limits()
  local function are(it)
    return it.per_minute == per_minute and it.at_once == at_once and (it.off or false) == off
  end
  return room.ask.seen and not are(room.ask.seen) and not are(room.ask)
end

local function limit(room)
  if overtaken(room) then return { error = "overtaken" } end
  local ask, paused = room.ask, room:limits() == 0
  redis.call("HSET", room.base, "per_minute", ask.per_minute, "at_once", ask.at_once, "off", ask.off and 1 or 0)
  if paused then redis.call("HDEL", room.base, "allowed_at") end -- so it goes on with a burst
  room:step()
  room:tell({})
  return room:state()
end

local function step(room)
  room:step()
  return room:state()
end

-- Every room of a term: whose turn it is are called in; gives the ms until the next window opens.
local function attend(keys, args)
  local ask, windows, soonest = cjson.decode(args[1]), redis.call("HGETALL", keys[1] .. ":windows"), nil
  for i = 1, #windows, 2 do
    local room = Room.of(keys[1], windows[i], windows[i + 1], ask)
    room:step()
    room:tidy()
    if room.phase == "before" then soonest = math.min(soonest or math.huge, room.opens - room.at) end
  end
  return cjson.encode({ opens_in = soonest })
end

register("enter", enter)
register("look", look)
register("touch", touch)
register("stay", stay)
register("leave", leave)
register("say", say)
register("limit", limit)
register("step", step)
redis.register_function("room_attend", attend)
register("state", function(room) return room:state() end, { "no-writes" })
