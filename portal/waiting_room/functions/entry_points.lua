-- Entry points: the functions that the portal calls.

local function enter(room)
  local ask = room.ask
  if room.phase ~= "before" and room.phase ~= "open" then return { error = room.phase } end
  if room:field("seed") ~= ask.seed then return { error = "seed" } end
  local before = room:waiting()
  room:record_any_heartbeat()
  room:restore_entry(ask.student)
  room:record_heartbeat(ask.student)
  local entry = room:entry(ask.student)
  if not entry.kind or entry.kind == "gone" then room:join() end
  room:admit()
  room:publish_turn(before)
  return { entry = room:take_entry(ask.student), state = room:state() }
end

-- Return the entries of many students, as if each had asked separately.
local function entries_of(room)
  local students, entries = room.ask.students, {}
  room:record_any_heartbeat()
  for _, student in ipairs(students) do room:record_heartbeat(student) end
  room:admit()
  for i, student in ipairs(students) do entries[i] = room:take_entry(student) end
  return { entries = entries, state = room:state() }
end

-- Record heartbeats of many waiting students; return those who no longer wait, or were skipped.
local function heartbeats(room)
  local students, seen, others = room.ask.students, {}, {}
  room:record_any_heartbeat()
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

-- Begin or extend the visit of an admitted student. While others wait, a visit has a longest time.
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

-- End a visit and its entry, or leave the queue. A student who comes back gets the same entry.
local function leave(room)
  local student = room.ask.student
  local id = redis.call("HGET", room:key("mine"), student)
  if not id then return {} end
  local visits, before = room:inside(student), room:waiting()
  if not visits then redis.call("HSET", room:key("left"), student, id) end
  if room:is_ahead(id) then
    redis.call("ZADD", room:key("gone"), redis.call("ZSCORE", room:key("line"), id), id)
  end
  room:journal_entry("queue_left", student, id, { visit = visits and true or nil })
  redis.call("HDEL", room:key("mine"), student)
  redis.call("ZREM", room:key("in"), student)
  redis.call("ZREM", room:key("seen"), id)
  redis.call("ZREM", room:key("back"), id)
  room:admit()
  room:publish_turn(before)
  return {}
end

local function record_estimate(room)
  local ask = room.ask
  redis.call("HSETNX", room:key("estimates"), ask.request, room.at .. ":" .. ask.least .. ":" .. ask.most)
  return {}
end

-- Return whether another admin changed the limits: they are neither those that the admin saw nor
-- those that the admin sets.
local function limits_changed(room)
  local per_minute, at_once, off = room:limits()
  local function match(it)
    return it.per_minute == per_minute and it.at_once == at_once and (it.off or false) == off
  end
  return room.ask.seen and not match(room.ask.seen) and not match(room.ask)
end

local function limit(room)
  if limits_changed(room) then return { error = "limits_changed" } end
  local ask, paused = room.ask, room:limits() == 0
  redis.call("HSET", room.base, "per_minute", ask.per_minute, "at_once", ask.at_once, "off", ask.off and 1 or 0)
  if paused then redis.call("HDEL", room.base, "allowed_at") end -- so the queue goes on with a burst
  room:admit()
  room:publish({})
  return room:state()
end

local function let_in(room)
  if room.phase ~= "open" then return { error = room.phase } end
  return { admitted = room:let_in(room.ask.count, room.ask.key), state = room:state() }
end

local function expire(room)
  return { expired = room:expire(room.ask.student, room.ask.key), state = room:state() }
end

local function reset(room)
  if room.phase ~= "open" and room.phase ~= "before" then return { error = room.phase } end
  return { emptied = room:reset(room.ask.key), state = room:state() }
end

local function use_public_value(room)
  return room:use_public_value(room.ask.value, room.ask.seed, room.ask.prepared, room.ask.codes)
end

local function admit(room)
  room:admit()
  return room:state()
end

-- Admit the students whose turn it is in every room of a term; return the ms until the next window
-- opens.
local function advance_all(keys, args)
  local ask, windows, soonest = cjson.decode(args[1]), redis.call("HGETALL", keys[1] .. ":windows"), nil
  for i = 1, #windows, 2 do
    local room = Room.of(keys[1], windows[i], windows[i + 1], ask)
    if ask.in_full then room:restore_share() elseif ask.slow and room.phase == "open" then room:cut_share() end
    room:admit()
    room:tidy()
    if room.phase == "before" then soonest = math.min(soonest or math.huge, room.opens - room.at) end
  end
  return cjson.encode({ opens_in = soonest })
end

local FENCED = "FENCED the seats of the term are being restored"

local BEHIND_FENCE = { enter = true, leave = true, let_in = true, expire = true, reset = true, use_public_value = true }

-- While the term is fenced, functions that add events themselves return an error. The others run, but
-- admit no students.
local function register(name, act, flags)
  redis.register_function({
    function_name = "room_" .. name,
    callback = function(keys, args)
      local room = Room.begin(keys, args)
      if BEHIND_FENCE[name] and room:fenced() then return redis.error_reply(FENCED) end
      return cjson.encode(act(room))
    end,
    flags = flags or {},
  })
end

register("enter", enter)
register("entries", entries_of)
register("heartbeats", heartbeats)
register("stay", stay)
register("leave", leave)
register("record_estimate", record_estimate)
register("limit", limit)
register("admit", admit)
register("let_in", let_in)
register("expire", expire)
register("reset", reset)
register("use_public_value", use_public_value)
redis.register_function("room_advance_all", advance_all)
register("state", function(room) return room:state() end, { "no-writes" })
