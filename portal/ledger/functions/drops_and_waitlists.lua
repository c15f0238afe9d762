-- Drops and waitlists: drop seats, leave waitlists, and promote.

-- The name of the current day, and when the next one begins.
local function today(days, at)
  local name, ends = days[1][2], days[1][1] + DAY
  for i, day in ipairs(days) do
    if day[1] <= at then name, ends = day[2], days[i + 1] and days[i + 1][1] or day[1] + DAY end
  end
  return name, ends
end

-- Move sections that need one in `gone` from `left` to `gone`; return them.
local function drop_dependents(term, mine, left, gone)
  local fallen, at = {}, 1
  while at <= #left do
    local id = left[at]
    if term:loses(id, mine, gone) then
      gone[id], fallen[#fallen + 1] = true, id
      table.remove(left, at)
      at = 1 -- others may depend on this one
    else
      at = at + 1
    end
  end
  return fallen
end

-- Return which of these to drop first: one that can be held without the others, otherwise the one
-- that takes the most others with it. They are sorted by id, so that the order of the request does
-- not matter.
local function first_to_drop(term, mine, left, gone)
  local best, most = 1, -1
  for i, id in ipairs(left) do
    local others = with({}, gone)
    for _, other in ipairs(left) do others[other] = other ~= id or nil end
    if not term:loses(id, mine, others) then return i end
  end
  for i, id in ipairs(left) do
    local others = extend({}, left)
    table.remove(others, i)
    local number = #drop_dependents(term, mine, others, with({ [id] = true }, gone))
    if number > most then best, most = i, number end
  end
  return best
end

-- For each seat, return the drop it belongs to (itself, or the seat that it depends on), and how
-- many drops of the day that makes.
local function group_drops(term, mine, leaving)
  local gone, left, cause, number = {}, {}, {}, 0
  for _, id in ipairs(leaving) do
    if mine.held[id] then left[#left + 1] = id end
  end
  table.sort(left)
  while #left > 0 do
    local root = table.remove(left, first_to_drop(term, mine, left, gone))
    cause[root], gone[root], number = root, true, number + 1
    for _, id in ipairs(drop_dependents(term, mine, left, gone)) do cause[id] = root end
  end
  return cause, number
end

-- Return the seats to drop and the waitlists to leave with them, each once.
local function seats_and_positions(mine, ask)
  local gone, seats, places = {}, {}, {}
  for i, id in ipairs(extend({ ask.section }, ask.along or {})) do
    if not gone[id] then
      local list = i > 1 and mine.waiting[id] and not mine.held[id] and places or seats
      gone[id], list[#list + 1] = true, id
    end
  end
  return gone, seats, places
end

local function leave_one_waitlist(term, id, more)
  local section, seq = term:section(id), term:next_seq()
  term:unqueue(section, term.ask.student)
  term:record_event(seq, "left", section, with({ student = term.ask.student }, more))
  return section, seq
end

-- A seat that depends on another one goes with it; every other seat counts as a drop of the day.
local function drop(term)
  local ask, reasons = term.ask, {}
  local mine, drops = term:selections(ask.student), term:key("drops", ask.student)
  local gone, seats, places = seats_and_positions(mine, ask)
  local cause, number = group_drops(term, mine, seats)
  local day, resets = today(ask.days, term.at)
  term:enter(ask.windows)
  extend(reasons, term.window_reasons)
  term:check_leaving(reasons)
  for i, id in ipairs(seats) do
    if not mine.held[id] then add_reason(reasons, "not_enrolled", i > 1 and { section = id } or nil) end
  end
  local used = tonumber(redis.call("HGET", drops, day) or 0)
  if used + math.max(number, 1) > ask.drop_limit then
    local left = number > 1 and math.max(0, ask.drop_limit - used) or nil
    add_reason(reasons, "drop_limit", { limit = ask.drop_limit, resets = resets, left = left, drops = left and number })
  end
  term:check_corequisites_kept(reasons, mine, without(mine, gone))
  if #reasons > 0 then return refuse(term, "drop", ask.section, reasons) end

  redis.call("HINCRBY", drops, day, number)
  local first, seq, registration
  for i, id in ipairs(seats) do
    local more = cause[id] == id and { day = day } or { along = cause[id] }
    local section, event, held = term:drop_seat(id, ask.student, more)
    if i == 1 then first, seq, registration = section, event, held end
  end
  for _, id in ipairs(places) do leave_one_waitlist(term, id, { along = ask.section }) end
  local left = #places > 0 and places or nil
  return answer(term, "dropped", first, { seq = seq, registration = registration, left = left })
end

local function leave(term)
  local ask, reasons = term.ask, {}
  if not redis.call("ZSCORE", term:key("queue", ask.section), ask.student) then
    add_reason(reasons, "not_waiting")
    return refuse(term, "leave", ask.section, reasons)
  end
  local mine = term:selections(ask.student)
  term:check_corequisites_kept(reasons, mine, without(mine, { [ask.section] = true }))
  for _, reason in ipairs(reasons) do reason.facts.waiting = true end
  if #reasons > 0 then return refuse(term, "leave", ask.section, reasons) end
  local section, seq = leave_one_waitlist(term, ask.section)
  return answer(term, "left", section, { seq = seq })
end

local function registrations(term)
  local student, enrolled, waiting = term.ask.student, {}, {}
  local mine = term:selections(student)
  for _, id in ipairs(ids(mine.held)) do
    local entry = redis.call("HGET", term:key("roster", id), student)
    local credits, registration, at = entry:match("(%d+):(%d+):(%d+)")
    extend(enrolled, { { id, tonumber(credits), tonumber(registration), tonumber(at) } })
  end
  for _, id in ipairs(ids(mine.waiting)) do
    local place, size = mine.waiting[id], redis.call("ZCARD", term:key("queue", id))
    local skipped = redis.call("HGET", term:key("passed", id), student)
    local reasons, swap_out = skipped and cjson.decode(skipped) or {}, place.swap_out or 0
    local position = term:position(id, student)
    local row = { id, place.credits, place.ticket, place.at, position, size, reasons, swap_out }
    if place.band > 1 then row[9] = place.band end
    extend(waiting, { row })
  end
  return { enrolled = enrolled, waiting = waiting }
end

-- Waitlists ---------------------------------------------------------------------------------------

-- The first students who may have a seat. If only reserved seats are free, leave out those set
-- aside.
local function heads(term, section, n) return term:actives(section.id, n, not has_unreserved(section)) end

local function head(term)
  local section = term:section(term.ask.section)
  return { students = section and heads(term, section, term.ask.n) or {} }
end

-- Count the skips under the term's rule, which names reasons; return the count, and whether this
-- skip loses the position. A position that a held section needs is kept, and so is one that waits
-- for a swap after the deadline to drop.
local function count_skip(term, section, student, reasons)
  local rule, counts = term.ask.passes, false
  for _, reason in ipairs(rule and reasons or {}) do
    if reason.code == "drop_deadline" or reason.code == "withdraw_deadline" then return end
    counts = counts or not rule.codes or rule.codes[reason.code]
  end
  if not counts then return end
  local passes = redis.call("HINCRBY", term:key("passes", section.id), student, 1)
  return passes, passes >= rule.most and not term:lost_corequisites(student, section.id) or nil
end

-- Give a waiting student a seat, or note why not; return true if given. A swap drops the old seat.
local function try_to_promote(term, section, candidate)
  local student, mine = candidate.student, term:selections(candidate.student)
  local place = mine.waiting[section.id]
  local swap_out = mine.held[place.swap_out or 0] and place.swap_out
  local rest = without(mine, { [swap_out or 0] = true })
  candidate.credits = place.credits -- as chosen on joining
  local reasons = term:refusal_reasons(section, rest, candidate)
  rest.held[section.id] = place.credits
  if swap_out then
    term:check_leaving(reasons)
    term:check_corequisites_kept(reasons, mine, rest)
  end
  if #reasons == 0 then
    -- Before the student leaves the list: what follows counts who is on it.
    if swap_out then term:drop_seat(swap_out, student, { swap = section.id }) end
    term:unqueue(section, student)
    term:seat("promoted", section, student, candidate, { instead = swap_out or nil })
    return true
  end
  local passes, lost = count_skip(term, section, student, reasons)
  redis.call("HSET", term:key("passed", section.id), student, cjson.encode(reasons))
  redis.call("SREM", term:key("aside", section.id), student)
  redis.call("SADD", term:key("marked"), section.id)
  local event = { student = student, reasons = reasons, passes = passes, lost = lost }
  term:record_event(term:next_seq(), "passed_over", section, event)
  if lost then
    term:unqueue(section, student)
    term:record_event(term:next_seq(), "left", section, { student = student, lost = true })
  end
  return false
end

local function promote(term)
  local ask, section = term.ask, term:section(term.ask.section)
  -- A section that is not open gives no seats, nor does any after the last day to add, or during an
  -- allocation round: no student is skipped.
  if not section or section.status ~= "OPEN" or term:is_past("add_deadline") then return { more = false } end
  if term:round_of(section.id) then return { more = false } end
  local candidates, promoted, skipped, aside = {}, {}, {}, {}
  for _, candidate in ipairs(ask.candidates) do candidates[candidate.student] = candidate end
  for _, student in ipairs(heads(term, section, #ask.candidates + 1)) do
    term:count(section) -- in a pool it depends on the other sections too
    -- A student who was set aside can only have a seat that is not reserved.
    if has_unreserved(section) or not term:is_aside(section.id, student) then
      if not (section.free and candidates[student] and term:comes_first(section, student)) then break end
      if has_unreserved(section) or reserve_for(section, candidates[student].reserves) then
        local given = try_to_promote(term, section, candidates[student])
        extend(given and promoted or skipped, { student })
      else
        term:set_aside(section, student)
        extend(aside, { student })
      end
    end
  end
  return { promoted = promoted, passed = skipped, aside = aside, more = term:recount(section) }
end

local function reconsider(term)
  return { seq = term:retry_skipped(term.ask.section, term.ask.student) }
end

-- A ledger with fewer events than were recorded has lost something, so it must not decide.
local function behind(term)
  return (tonumber(redis.call("GET", term:key("seq"))) or 0) < (term.ask.recorded or 0)
end
