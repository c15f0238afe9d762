-- What the registrar sets: sections and windows.

local function put_section(term)
  local ask, event = term.ask, {}
  local key = term:key("section", ask.section)
  if behind(term) then return { error = "behind" } end
  if tonumber(redis.call("HGET", key, "version") or -1) >= ask.version then return {} end
  local facts = { "version", ask.version }
  for _, field in ipairs(FIELDS) do
    event[field] = ask[field]
    extend(facts, { field, field == "times" and cjson.encode(ask.times) or ask[field] })
  end
  redis.call("HSET", key, unpack(facts))
  redis.call("DEL", term:key("passed", ask.section)) -- other terms, so all are asked again
  event.section_version = ask.version
  local seq = term:next_seq()
  term:tell(seq, "section_set", term:section(ask.section), event)
  return { seq = seq }
end

-- Windows -----------------------------------------------------------------------------------------

local function window_of(term, id)
  local json = redis.call("HGET", term:key("windows"), id)
  return json and cjson.decode(json)
end

-- Note when the next window opens or closes, so that whatever comes then finds it turned.
local function plan(term)
  local due
  for _, json in pairs(hash(term:key("windows"))) do
    local window = cjson.decode(json)
    local turns = not window.opened and window.opens or not window.ended and window.closes
    if turns and window.state ~= "canceled" then due = math.min(due or turns, turns) end
  end
  if due then redis.call("SET", term:key("next"), due) else redis.call("DEL", term:key("next")) end
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

-- A change to a window that is "before" or "running"; `change` gives what is wrong, or nothing.
local function change_window(phase, change)
  return function(term)
    local window, wrong = window_of(term, term.ask.window), nil
    if not window then wrong = "unknown"
    elseif window.state == "canceled" then wrong = "canceled"
    elseif window.state == "closed" or term.at >= window.closes then wrong = "already_ended"
    elseif phase == "before" and term.at >= window.opens then wrong = "already_open"
    elseif phase == "running" and term.at < window.opens then wrong = "not_open"
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
  if known then -- sent twice is no mistake, another window under this number is
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

-- An opening gives everyone who was passed over another chance, in every section.
local function reprieve_all(term)
  local marked = redis.call("SMEMBERS", term:key("marked"))
  redis.call("DEL", term:key("marked"))
  table.sort(marked)
  for _, id in ipairs(marked) do term:reprieve(tonumber(id)) end
end

-- Turn the windows that have opened or closed since the last decision, before the next is made.
local function turn(term)
  local due = tonumber(redis.call("GET", term:key("next")))
  if not due or term.at < due then return end
  local windows, turned = hash(term:key("windows")), term.turned
  for _, id in ipairs(ids(windows)) do
    local window = cjson.decode(windows[tostring(id)])
    local live = window.state ~= "canceled"
    if live and not window.opened and window.opens <= term.at then
      window.opened = true
      set_window(term, id, window, "window_opened")
      reprieve_all(term)
      extend(turned, { { id, "opened" } })
    end
    if live and not window.ended and window.closes <= term.at then
      window.ended = true
      set_window(term, id, window, "window_closed")
      extend(turned, { { id, "closed" } })
    end
  end
end

local function turned(term) return { turned = term.turned } end
