-- Selections and waitlists: what is dropped or left, and who comes next.

-- The name of the day that it is, and when the next one begins.
local function today(days, at)
  local name, ends = days[1][2], days[1][1] + DAY
  for i, day in ipairs(days) do
    if day[1] <= at then name, ends = day[2], days[i + 1] and days[i + 1][1] or day[1] + DAY end
  end
  return name, ends
end

-- Seats given up together count as one drop of the day.
local function drop(term)
  local ask, reasons, gone, leaving = term.ask, {}, {}, {}
  for _, id in ipairs(extend({ ask.section }, ask.along or {})) do
    if not gone[id] then gone[id], leaving[#leaving + 1] = true, id end
  end
  local mine, drops = term:selections(ask.student), term:key("drops", ask.student)
  local day, resets = today(ask.days, term.at)
  term:object_window(reasons, ask.windows)
  for i, id in ipairs(leaving) do
    if not mine.held[id] then object(reasons, "not_enrolled", i > 1 and { section = id } or nil) end
  end
  if tonumber(redis.call("HGET", drops, day) or 0) >= ask.drop_limit then
    object(reasons, "drop_limit", { limit = ask.drop_limit, resets = resets })
  end
  term:object_loss(reasons, mine, without(mine, gone))
  if #reasons > 0 then return refuse(term, "drop", ask.section, reasons) end

  redis.call("HINCRBY", drops, day, 1)
  local section, seq, registration = term:release(ask.section, ask.student, { day = day })
  for i = 2, #leaving do term:release(leaving[i], ask.student, { along = ask.section }) end
  return answer(term, "dropped", section, { seq = seq, registration = registration })
end

local function leave(term)
  local ask, reasons = term.ask, {}
  if not redis.call("ZSCORE", term:key("queue", ask.section), ask.student) then
    object(reasons, "not_waiting")
    return refuse(term, "leave", ask.section, reasons)
  end
  local section, seq = term:section(ask.section), term:next_seq()
  term:unqueue(section, ask.student)
  term:tell(seq, "left", section, { student = ask.student })
  return answer(term, "left", section, { seq = seq })
end

local function standing(term)
  local student, enrolled, waiting = term.ask.student, {}, {}
  local mine = term:selections(student)
  for _, id in ipairs(ids(mine.held)) do
    local entry = redis.call("HGET", term:key("roster", id), student)
    local credits, registration, at = entry:match("(%d+):(%d+):(%d+)")
    extend(enrolled, { { id, tonumber(credits), tonumber(registration), tonumber(at) } })
  end
  for _, id in ipairs(ids(mine.waiting)) do
    local place, size = mine.waiting[id], redis.call("ZCARD", term:key("queue", id))
    local passed = redis.call("HGET", term:key("passed", id), student)
    local reasons, instead = passed and cjson.decode(passed) or {}, place.instead or 0
    local position = term:position(id, student)
    extend(waiting, { { id, place.credits, place.ticket, place.at, position, size, reasons, instead } })
  end
  return { enrolled = enrolled, waiting = waiting }
end

-- Waitlists ---------------------------------------------------------------------------------------

local function head(term) return { students = term:actives(term.ask.section, term.ask.n) } end

-- Give a waiter a seat, or note why not; true if it was given. In a swap the old seat goes with it.
local function consider(term, section, candidate)
  local student, mine = candidate.student, term:selections(candidate.student)
  local place = mine.waiting[section.id]
  local instead = mine.held[place.instead or 0] and place.instead
  local rest = without(mine, { [instead or 0] = true })
  candidate.credits = place.credits -- as chosen when joining
  local reasons = term:objections(section, rest, candidate)
  rest.held[section.id] = place.credits
  if instead then term:object_loss(reasons, mine, rest) end
  if #reasons == 0 then
    term:unqueue(section, student)
    if instead then term:release(instead, student, { swap = section.id }) end
    term:seat("promoted", section, student, candidate, { instead = instead or nil })
    return true
  end
  redis.call("HSET", term:key("passed", section.id), student, cjson.encode(reasons))
  redis.call("SADD", term:key("marked"), section.id)
  term:tell(term:next_seq(), "passed_over", section, { student = student, reasons = reasons })
  return false
end

local function promote(term)
  local ask, section = term.ask, term:section(term.ask.section)
  -- The seats of a section that is not open are nobody's, so nobody is passed over for one.
  if not section or section.status ~= "OPEN" then return { more = false } end
  local candidates, promoted, passed = {}, {}, {}
  for _, candidate in ipairs(ask.candidates) do candidates[candidate.student] = candidate end
  for _, student in ipairs(term:actives(section.id, #ask.candidates + 1)) do
    if not section.free or not candidates[student] then break end
    local given = consider(term, section, candidates[student])
    extend(given and promoted or passed, { student })
  end
  term:mark_vacancy(section)
  return { promoted = promoted, passed = passed, more = section.free and section.active > 0 }
end

local function reconsider(term)
  return { seq = term:reprieve(term.ask.section) }
end

-- A ledger that knows less than the record has lost something: it must not decide on that ground.
local function behind(term)
  return (tonumber(redis.call("GET", term:key("seq"))) or 0) < (term.ask.recorded or 0)
end
