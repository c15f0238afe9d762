-- Submissions: several choices at once, with alternatives, linked sections and swaps.

-- An alternative's parts, each with its section, and whether a seat is free.
local function parts_of(term, mine, option, instead)
  local parts, shared, named = {}, {}, {} -- shared: seats of each pool that go to other parts
  for i, wish in ipairs(option) do
    local id, section = wish.section, term:section(wish.section)
    local part = { wish = wish, section = section, reasons = {} }
    if section and not (mine.held[id] or mine.waiting[id] or named[id]) then
      part.seat = term:claimable(section, wish.reserves, instead, shared[section.pool])
      if part.seat then shared[section.pool] = (shared[section.pool] or 0) + 1 end
    end
    parts[i], named[id] = part, true
  end
  return parts
end

-- The courses that a part is taken with. A waitlisted one counts if the two need each other;
-- `missed` holds those that do not count for that reason.
local function courses_along(mine, parts, part, wait)
  local along, missed = {}, {}
  for _, other in ipairs(parts) do
    local course = other.section and other.section.course
    local seated = other.seat or mine.held[other.wish.section]
    if course and (seated or not (wait and part.seat) or names(other.wish.corequisites, part.section.course)) then
      along[course] = true
    elseif course then
      missed[course] = true
    end
  end
  return along, missed
end

-- Mark a missing corequisite as only waitlisted.
local function mark_waiting(reasons, missed)
  for _, reason in ipairs(reasons) do
    for _, course in ipairs(reason.code == "corequisite" and reason.facts.missing or {}) do
      if missed[course] then reason.facts.waiting = true end
    end
  end
end

-- The student's selections after an alternative is taken: a part without a seat is waitlisted.
local function after_taking(rest, parts)
  local after, seated = without(rest, {}), false
  for _, part in ipairs(parts) do seated = seated or part.seat end
  for _, part in ipairs(parts) do
    local id = part.wish.section
    if seated and not part.seat and after.held[id] and not part.had then
      after.held[id], after.waiting[id] = nil, {}
    end
  end
  return after
end

-- The parts, each with its reasons for refusal.
local function check_alternative(term, mine, option, instead, wait)
  local rest, gained = without(mine, { [instead or 0] = true }), nil
  local parts = parts_of(term, mine, option, instead)
  for _, part in ipairs(parts) do
    local wish, section = part.wish, part.section
    wish.windows, wish.limit = term.ask.windows, term.ask.limit
    if mine.held[wish.section] then
      part.had = true
      -- swapped for itself
      if wish.section == instead then add_reason(part.reasons, "already_enrolled") end
    elseif rest.held[wish.section] then -- named twice
      part.had = true
      add_reason(part.reasons, "same_course", { section = wish.section })
    elseif mine.waiting[wish.section] then
      part.waits = true
      add_reason(part.reasons, "already_waiting", { position = term:position(wish.section, term.ask.student) })
    else
      local along, missed = courses_along(mine, parts, part, wait)
      part.reasons = term:refusal_reasons(section, rest, wish, along)
      mark_waiting(part.reasons, missed)
      if section then rest.held[wish.section] = wish.credits end
      gained = gained or part
    end
  end
  if instead and not mine.held[instead] then
    add_reason(parts[1].reasons, "not_enrolled", { section = instead })
  end
  if instead and gained then term:check_corequisites_kept(gained.reasons, mine, after_taking(rest, parts)) end
  return parts
end

-- "seats" if every part can be had; "wait" if the full ones have room on their waitlists; otherwise
-- nil.
local function chance(parts)
  local sure = 0
  for _, part in ipairs(parts) do
    if #part.reasons > 0 then return nil end
    if part.had or part.seat then sure = sure + 1
    elseif part.section.waiting >= part.section.waitlist then return nil end
  end
  if sure == #parts then return "seats" end
  -- Of sections taken together, at least one must have a seat.
  return (#parts == 1 or sure > 0) and "wait" or nil
end

local function join(term, section, wish, instead)
  local ask, seq = term.ask, term:next_seq()
  local place = table.concat({ seq, wish.credits, term.at, instead }, ":")
  redis.call("ZADD", term:key("queue", section.id), seq, ask.student)
  redis.call("HSET", term:key("student", ask.student), "w:" .. section.id, place)
  if section.kept > 0 and not reserve_for(section, wish.reserves) then term:set_aside(section, ask.student) end
  local position = term:position(section.id, ask.student)
  local event =
    { student = ask.student, credits = wish.credits, ticket = seq, position = position, instead = instead }
  term:record_event(seq, "waitlisted", section, event)
  return answer(term, "waitlisted", section, { seq = seq, position = position, given_up = instead })
end

-- A waiting student asks again, now for a swap: the position stays, and is considered again.
local function attach_swap(term, mine, line)
  local id, student, seq = line.options[1][1].section, term.ask.student, term:next_seq()
  local place, section = mine.waiting[id], term:section(id)
  local kept = table.concat({ place.ticket, place.credits, place.at, line.instead }, ":")
  redis.call("HSET", term:key("student", student), "w:" .. id, kept)
  redis.call("HDEL", term:key("passed", id), student)
  term:record_event(seq, "swap_planned", section, { student = student, instead = line.instead })
  local position = term:position(id, student)
  local said = answer(term, "waitlisted", section, { seq = seq, position = position, given_up = line.instead })
  return { outcome = "waitlisted", rank = 1, taken = { said }, refused = {} }
end

local function attaches_swap(mine, line)
  local place = mine.waiting[line.options[1][1].section]
  local alone = #line.options == 1 and #line.options[1] == 1
  return place and alone and line.wait and mine.held[line.instead or 0] and place.instead ~= line.instead
end

-- Take an alternative; the seat to swap goes with the first seat given.
local function take(term, parts, line, rank)
  local student, answers, given_up, outcome = term.ask.student, {}, nil, "enrolled"
  local more = { rank = rank > 1 and rank or nil }
  for _, part in ipairs(parts) do
    if part.seat and line.instead and not given_up then
      given_up, more.instead = line.instead, line.instead
      term:drop_seat(given_up, student, { swap = part.section.id })
    end
  end
  for i, part in ipairs(parts) do
    if part.had then
      answers[i] = answer(term, "refused", { id = part.wish.section }, { reasons = { { code = "already_enrolled", facts = {} } } })
    elseif part.seat then
      local seq = term:seat("enrolled", part.section, student, part.wish, more)
      answers[i] = answer(term, "enrolled", part.section, { seq = seq, registration = seq, given_up = given_up })
    else
      outcome = "waitlisted"
      answers[i] = join(term, part.section, part.wish, not given_up and line.instead or nil)
    end
  end
  return { outcome = outcome, rank = rank, taken = answers }
end

-- Why an alternative was refused, part by part; with its rank if others come before it.
local function refuse_alternative(term, parts, line, rank)
  local culprit, answers = nil, {}
  for _, part in ipairs(parts) do
    local section, reasons = part.section, part.reasons
    if section and not (part.had or part.seat or part.waits) then
      local room = section.waiting < section.waitlist
      add_reason(reasons, line.wait and not room and "waitlist_full" or "full", full(section))
    end
    if #reasons > 0 then culprit = culprit or part.wish.section end
    if part.had and #reasons == 0 then add_reason(reasons, "already_enrolled") end
  end
  for i, part in ipairs(parts) do
    if #part.reasons == 0 then add_reason(part.reasons, "together", { section = culprit }) end
    local more = { instead = line.instead, rank = (rank or 1) > 1 and rank or nil }
    answers[i] = refuse(term, "claim", part.wish.section, part.reasons, more)
    -- A student who asks again may have removed the reasons.
    if part.waits then term:retry_skipped(part.wish.section, term.ask.student) end
  end
  return answers
end

local function has_all(mine, option)
  for _, wish in ipairs(option) do
    if not (mine.held[wish.section] or mine.waiting[wish.section]) then return false end
  end
  return true
end

-- One choice: the first alternative that can be had, otherwise the first that can be waitlisted. It
-- is fulfilled if the student has one of them or waits for it, whatever its rank. A submission sent
-- twice, from two pages, must not count twice.
local function decide(term, line)
  local mine, weighed, chosen = term:selections(term.ask.student), {}, nil
  if attaches_swap(mine, line) then return attach_swap(term, mine, line) end
  for _, option in ipairs(line.options) do
    if has_all(mine, option) then
      local parts = check_alternative(term, mine, option)
      return { outcome = "refused", rank = 0, refused = { refuse_alternative(term, parts, line) } }
    end
  end
  for rank, option in ipairs(line.options) do
    weighed[rank] = check_alternative(term, mine, option, line.instead, line.wait)
    if chance(weighed[rank]) == "seats" then chosen = rank break end
  end
  for rank, parts in ipairs(line.wait and not chosen and weighed or {}) do
    if chance(parts) then chosen = rank break end
  end
  local refused = {}
  for rank, parts in ipairs(weighed) do
    if rank ~= chosen then refused[#refused + 1] = refuse_alternative(term, parts, line, rank) end
  end
  local said = chosen and take(term, weighed[chosen], line, chosen) or { outcome = "refused", rank = 0 }
  said.refused = refused
  return said
end

-- Whether the waiting room of a window still admits the student
-- (portal/waiting_room/functions/room.lua). The deciding step checks this: an access token ends
-- with the visit, whatever it says itself.
local function admitted(term, window)
  local ends = tonumber(redis.call("ZSCORE", term:key("room", window .. ":in"), term.ask.student))
  return ends and ends > term.at
end

-- Decide in the given order; answer in the order of the lines.
local function submit(term)
  local ask, lines = term.ask, {}
  if ask.room and not admitted(term, ask.room) then return { error = "not_admitted" } end
  term:enter(ask.windows)
  for i = 1, #ask.lines do
    local at = ask.order and ask.order[i] or i
    lines[at] = decide(term, ask.lines[at])
  end
  return { at = term.at, lines = lines }
end
