-- Sections, windows and deadlines, as the registrar sets them.

-- Store when the next window opens or closes, a reserve ends or a deadline passes, so that each later
-- call finds it done.
local function plan(term)
  local due
  for _, json in pairs(hash(term:key("windows"))) do
    local window = cjson.decode(json)
    local turns = not window.opened and window.opens or not window.ended and window.closes
    if turns and window.state ~= "canceled" then due = math.min(due or turns, turns) end
  end
  local reserve = tonumber(redis.call("ZRANGE", term:key("reserves"), 0, 0, "WITHSCORES")[2])
  if reserve then due = math.min(due or reserve, reserve) end
  for _, name in ipairs(DEADLINES) do
    local ends = term:deadline(name)
    if ends and not term.deadlines[passed_field(name)] then due = math.min(due or ends, ends) end
  end
  if due then redis.call("SET", term:key("next"), due) else redis.call("DEL", term:key("next")) end
end

-- Close a canceled section's waitlist and free its seats, at most so many per step: no student can
-- claim there any more. Return true while some are left.
local function empty_canceled(term, section)
  local left, emptying = term.ask.batch, term:key("emptying")
  local waiting = redis.call("ZRANGE", term:key("queue", section.id), 0, left - 1)
  for _, student in ipairs(waiting) do
    local alone = term:lost_corequisites(student, section.id)
    term:unqueue(section, student)
    term:record_event(term:next_seq(), "left", section, { student = tonumber(student), canceled = true, alone = alone })
  end
  local roster = ids(hash(term:key("roster", section.id)))
  for i = 1, math.min(left - #waiting, #roster) do
    term:drop_seat(section.id, roster[i], { canceled = true, alone = term:lost_corequisites(roster[i], section.id) })
  end
  local rest = redis.call("HLEN", term:key("roster", section.id)) + redis.call("ZCARD", term:key("queue", section.id))
  if rest == 0 then
    redis.call("SREM", emptying, section.id)
    return false
  end
  redis.call("SADD", emptying, section.id)
  term:call("promote")
  return true
end

local function empty(term)
  local section = term:section(term.ask.section)
  if section and section.status == "CANCELED" then return { more = empty_canceled(term, section) } end
  redis.call("SREM", term:key("emptying"), term.ask.section) -- the section was reopened
  return { more = false }
end

local function put_section(term)
  local ask, event = term.ask, {}
  local key = term:key("section", ask.section)
  if behind(term) then return { error = "behind" } end
  local version, status = unpack(redis.call("HMGET", key, "version", "status"))
  if tonumber(version or -1) >= ask.version then
    return { more = status == "CANCELED" and empty_canceled(term, term:section(ask.section)) }
  end
  local left = term:join_pool(ask.section, ask.pool)
  local facts = { "version", ask.version, "pool", ask.pool and ask.pool.id or 0 }
  extend(facts, { "reserves", cjson.encode(ask.reserves) })
  if term:plan_reserves(ask.section, ask.reserves) then plan(term) end
  for _, field in ipairs(FIELDS) do
    local value = ask[field]
    event[field] = value
    extend(facts, { field, type(value) == "table" and cjson.encode(value) or value })
  end
  redis.call("HSET", key, unpack(facts))
  -- The section's terms changed, so all waiting students are considered again.
  redis.call("DEL", term:key("passed", ask.section), term:key("aside", ask.section))
  event.section_version, event.pool = ask.version, ask.pool and ask.pool.id
  event.pool_version = ask.pool and ask.pool.version
  event.reserves = #ask.reserves > 0 and ask.reserves or nil
  local seq = term:next_seq()
  local section = term:section(ask.section)
  section.left_pool = left
  term:record_event(seq, "section_set", section, event)
  term:retry_skipped_in_pool(section.shared)
  if left then term:retry_skipped_in_pool(term:pool(left)) end
  return { seq = seq, more = section.status == "CANCELED" and empty_canceled(term, section) }
end

-- Windows -----------------------------------------------------------------------------------------

local function window_of(term, id)
  local json = redis.call("HGET", term:key("windows"), id)
  return json and cjson.decode(json)
end

local function set_window(term, id, window, name)
  local seq, event = term:next_seq(), { aggregate = "window:" .. id, window = id }
  if name == "window_set" then
    event.window_name, event.opens, event.closes = window.name, window.opens, window.closes
    event.state, event.cohort = window.state, window.cohort
  end
  redis.call("HSET", term:key("windows"), id, cjson.encode(window))
  plan(term)
  term:journal(seq, name, event)
  return { seq = seq }
end

local function moved_since(window, was)
  return was and (window.opens ~= was[1] or window.closes ~= was[2])
end

-- Change a window that is "before" or "running"; `change` returns an error, or nothing.
local function change_window(phase, change)
  return function(term)
    local window, wrong = window_of(term, term.ask.window), nil
    if not window then wrong = "unknown"
    elseif window.state == "canceled" then wrong = "canceled"
    elseif window.state == "closed" or term.at >= window.closes then wrong = "already_ended"
    elseif phase == "before" and term.at >= window.opens then wrong = "already_open"
    elseif phase == "running" and term.at < window.opens then wrong = "not_open"
    elseif moved_since(window, term.ask.was) then wrong = "changed"
    else wrong = change(window, term) end
    if wrong then return { error = wrong } end
    return set_window(term, term.ask.window, window, "window_set")
  end
end

local function set_times(window, term)
  window.opens, window.closes = term.ask.opens, term.ask.closes
  if window.opens >= window.closes then return "times_crossed" end
  if window.closes <= term.at then return "in_the_past" end
end

local function put_window(term)
  local ask, known = term.ask, window_of(term, term.ask.window)
  if behind(term) then return { error = "behind" } end
  if known then -- a repeated request is fine; another window under this number is not
    local same = known.name == ask.name and known.opens == ask.opens and known.closes == ask.closes
    return same and {} or { error = "exists" }
  end
  local window = { name = ask.name, cohort = ask.cohort, state = "scheduled" }
  local wrong = set_times(window, term)
  if wrong then return { error = wrong } end
  return set_window(term, ask.window, window, "window_set")
end

local function cancel(window) window.state = "canceled" end

local function close(window, term) window.state, window.closes = "closed", term.at end

local function prolong(window, term)
  if term.ask.closes <= window.closes then return "times_crossed" end
  window.closes = term.ask.closes
end

-- An opening gives everyone who was skipped another chance, in every section.
local function retry_all_skipped(term)
  local marked = redis.call("SMEMBERS", term:key("marked"))
  redis.call("DEL", term:key("marked"))
  table.sort(marked)
  for _, id in ipairs(marked) do term:retry_skipped(tonumber(id)) end
end

-- Seats that are no longer reserved are open to all, so all waiting students are considered again.
local function open_reserves(term)
  local due = redis.call("ZRANGEBYSCORE", term:key("reserves"), "-inf", term.at)
  for i, id in ipairs(due) do due[i] = tonumber(id) end
  table.sort(due)
  for _, id in ipairs(due) do
    local section = term:section(id)
    redis.call("DEL", term:key("passed", id), term:key("aside", id))
    term:plan_reserves(id, section.reserves)
    term:record_event(term:next_seq(), "reserve_opened", section, {})
  end
  if #due > 0 then plan(term) end
end

-- Deadlines --------------------------------------------------------------------------------------

-- After the last day to add, no seat waits for a student.
local function pass_deadlines(term)
  local any = false
  for _, name in ipairs(DEADLINES) do
    if term:is_past(name) and not term.deadlines[passed_field(name)] then
      redis.call("HSET", term:key("deadlines"), passed_field(name), 1)
      term.deadlines[passed_field(name)], any = "1", true
      if name == "add_deadline" then redis.call("DEL", term:key("vacant")) end
      term:journal(term:next_seq(), "deadline_passed", { aggregate = "deadlines", deadline = name })
    end
  end
  if any then plan(term) end
end

-- Set all deadlines; nothing changes if they are the same, or if newer ones are known. Seats that
-- came free after the last day to add go to the waitlists if there is a later one now.
local function put_deadlines(term)
  local ask, key, same = term.ask, term:key("deadlines"), true
  if behind(term) then return { error = "behind" } end
  local known, event = hash(key), { aggregate = "deadlines", deadlines_version = ask.version }
  local stored = { "version", ask.version }
  for _, name in ipairs(DEADLINES) do
    local ends, before = ask.deadlines[name], tonumber(known[name])
    event[name] = ends
    if ends then extend(stored, { name, ends }) end
    if ends and ends == before and known[passed_field(name)] then extend(stored, { passed_field(name), 1 }) end
    same = same and ends == before
  end
  -- Kept apart from the deadlines, which change by events alone.
  local seen = term:key("deadlines_seen")
  if ask.version < math.max(tonumber(redis.call("GET", seen) or 0), tonumber(known.version or 0)) then return {} end
  redis.call("SET", seen, ask.version)
  if same then return {} end
  redis.call("DEL", key)
  redis.call("HSET", key, unpack(stored))
  term.deadlines = nil
  local seq = term:next_seq()
  term:journal(seq, "deadlines_set", event)
  local later = false
  for _, name in ipairs({ "drop_deadline", "withdraw_deadline" }) do
    later = later or (known[passed_field(name)] and not term:is_past(name))
  end
  if later then retry_all_skipped(term) end -- they may have waited for a swap
  if known[passed_field("add_deadline")] and not term:is_past("add_deadline") then
    for id, json in pairs(hash(term:key("seats"))) do term:mark_vacancy(tonumber(id), cjson.decode(json)) end
  end
  pass_deadlines(term)
  plan(term)
  return { seq = seq }
end

-- Open and close windows that became due since the last decision.
local function turn(term, due)
  if not due or term.at < due then return end
  pass_deadlines(term)
  local windows, turned = hash(term:key("windows")), term.turned
  for _, id in ipairs(ids(windows)) do
    local window = cjson.decode(windows[tostring(id)])
    local live = window.state ~= "canceled"
    if live and not window.opened and window.opens <= term.at then
      window.opened = true
      set_window(term, id, window, "window_opened")
      retry_all_skipped(term)
      extend(turned, { { id, "opened" } })
    end
    if live and not window.ended and window.closes <= term.at then
      window.ended = true
      set_window(term, id, window, "window_closed")
      extend(turned, { { id, "closed" } })
    end
  end
  open_reserves(term)
end

local function turned(term) return { turned = term.turned } end
