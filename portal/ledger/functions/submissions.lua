-- Submissions: several choices at once, with alternatives, linked sections and swaps.

-- An alternative's parts, each with its section, and whether a seat is free.
local function parts_of(term, mine, alternative, swap_out)
  local parts, shared, named = {}, {}, {} -- shared: seats of each pool that go to other parts
  for i, claim in ipairs(alternative) do
    local id, section = claim.section, term:section(claim.section)
    local part = { claim = claim, section = section, reasons = {} }
    if section and not (mine.held[id] or mine.waiting[id] or named[id]) then
      part.seat = term:claimable(section, claim.reserves, swap_out, shared[section.pool])
      if part.seat then shared[section.pool] = (shared[section.pool] or 0) + 1 end
    end
    parts[i], named[id] = part, true
  end
  return parts
end

-- The courses that a part is taken with. A waitlisted one counts if the two need each other;
-- `missed` holds those that do not count for that reason.
local function courses_taken_with(mine, parts, part, wait)
  local taken_with, missed = {}, {}
  for _, other in ipairs(parts) do
    local course = other.section and other.section.course
    local seated = other.seat or mine.held[other.claim.section]
    if course and (seated or not (wait and part.seat) or names(other.claim.corequisites, part.section.course)) then
      taken_with[course] = true
    elseif course then
      missed[course] = true
    end
  end
  return taken_with, missed
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
    local id = part.claim.section
    if seated and not part.seat and after.held[id] and not part.had then
      after.held[id], after.waiting[id] = nil, {}
    end
  end
  return after
end

-- The parts, each with its reasons for refusal.
local function check_alternative(term, mine, alternative, swap_out, wait)
  local rest, gained = without(mine, { [swap_out or 0] = true }), nil
  local parts = parts_of(term, mine, alternative, swap_out)
  for _, part in ipairs(parts) do
    local claim, section = part.claim, part.section
    claim.windows, claim.credit_limit = term.ask.windows, term.ask.credit_limit
    if mine.held[claim.section] then
      part.had = true
      -- swapped for itself
      if claim.section == swap_out then add_reason(part.reasons, "already_enrolled") end
    elseif rest.held[claim.section] then -- named twice
      part.had = true
      add_reason(part.reasons, "same_course", { section = claim.section })
    elseif mine.waiting[claim.section] then
      part.waits = true
      add_reason(part.reasons, "already_waiting", { position = term:position(claim.section, term.ask.student) })
    else
      local taken_with, missed = courses_taken_with(mine, parts, part, wait)
      part.reasons = term:refusal_reasons(section, rest, claim, taken_with)
      mark_waiting(part.reasons, missed)
      if section then rest.held[claim.section] = claim.credits end
      gained = gained or part
    end
  end
  if swap_out and not mine.held[swap_out] then
    add_reason(parts[1].reasons, "not_enrolled", { section = swap_out })
  end
  if swap_out and gained then
    term:check_leaving(gained.reasons)
    term:check_corequisites_kept(gained.reasons, mine, after_taking(rest, parts))
  end
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

-- A waitlist position as the student's key has it.
local function entry_of(place, swap_out)
  local parts = { place.ticket, place.credits, place.at, swap_out }
  if place.band > 1 then parts[4], parts[5] = swap_out or "", place.band end
  return table.concat(parts, ":")
end

-- The band is fixed on joining: it comes before the time.
local function join(term, section, claim, swap_out)
  local ask, seq, band = term.ask, term:next_seq(), claim.band or 1
  local place = { ticket = seq, credits = claim.credits, at = term.at, band = band }
  redis.call("ZADD", term:key("queue", section.id), (band - 1) * BAND + seq, ask.student)
  term:change_own(ask.student, "HSET", "w:" .. section.id, entry_of(place, swap_out))
  if section.kept > 0 and not reserve_for(section, claim.reserves) then term:set_aside(section, ask.student) end
  local position = term:position(section.id, ask.student)
  local event = {
    student = ask.student, credits = claim.credits, ticket = seq, position = position, instead = swap_out,
    permitted = claim.permitted, band = claim.band,
  }
  term:record_event(seq, "waitlisted", section, event)
  return answer(term, "waitlisted", section, { seq = seq, position = position, given_up = swap_out })
end

-- A waiting student asks again, now for a swap: the position stays, and is considered again.
local function attach_swap(term, mine, choice)
  local id, student, seq = choice.alternatives[1][1].section, term.ask.student, term:next_seq()
  local entry, section = mine.waiting[id], term:section(id)
  term:change_own(student, "HSET", "w:" .. id, entry_of(entry, choice.swap_out))
  redis.call("HDEL", term:key("passed", id), student)
  term:record_event(seq, "swap_planned", section, { student = student, instead = choice.swap_out })
  local position = term:position(id, student)
  local result = answer(term, "waitlisted", section, { seq = seq, position = position, given_up = choice.swap_out })
  return { outcome = "waitlisted", rank = 1, taken = { result }, refused = {} }
end

local function attaches_swap(mine, choice)
  local entry = mine.waiting[choice.alternatives[1][1].section]
  local alone = #choice.alternatives == 1 and #choice.alternatives[1] == 1
  return entry and alone and choice.wait and mine.held[choice.swap_out or 0] and entry.swap_out ~= choice.swap_out
end

-- Take an alternative; the seat to swap goes with the first seat given.
local function take(term, parts, choice, rank)
  local student, answers, dropped, outcome = term.ask.student, {}, nil, "enrolled"
  local more = { rank = rank > 1 and rank or nil }
  for _, part in ipairs(parts) do
    if part.seat and choice.swap_out and not dropped then
      dropped, more.instead = choice.swap_out, choice.swap_out
      term:drop_seat(dropped, student, { swap = part.section.id })
    end
  end
  for i, part in ipairs(parts) do
    if part.had then
      answers[i] = answer(term, "refused", { id = part.claim.section }, { reasons = { { code = "already_enrolled", facts = {} } } })
    elseif part.seat then
      local seq = term:seat("enrolled", part.section, student, part.claim, more)
      answers[i] = answer(term, "enrolled", part.section, { seq = seq, registration = seq, given_up = dropped })
    else
      outcome = "waitlisted"
      answers[i] = join(term, part.section, part.claim, not dropped and choice.swap_out or nil)
    end
  end
  return { outcome = outcome, rank = rank, taken = answers }
end

-- Why an alternative was refused, part by part; with its rank if others come before it.
local function refuse_alternative(term, parts, choice, rank)
  local culprit, answers = nil, {}
  for _, part in ipairs(parts) do
    local section, reasons = part.section, part.reasons
    if section and not (part.had or part.seat or part.waits) then
      local room = section.waiting < section.waitlist
      add_reason(reasons, choice.wait and not room and "waitlist_full" or "full", full(section))
    end
    if #reasons > 0 then culprit = culprit or part.claim.section end
    if part.had and #reasons == 0 then add_reason(reasons, "already_enrolled") end
  end
  for i, part in ipairs(parts) do
    if #part.reasons == 0 then add_reason(part.reasons, "together", { section = culprit }) end
    local more = { instead = choice.swap_out, rank = (rank or 1) > 1 and rank or nil }
    answers[i] = refuse(term, "claim", part.claim.section, part.reasons, more)
    -- A student who asks again may have removed the reasons.
    if part.waits then term:retry_skipped(part.claim.section, term.ask.student) end
  end
  return answers
end

local function has_all(mine, alternative)
  for _, claim in ipairs(alternative) do
    if not (mine.held[claim.section] or mine.waiting[claim.section]) then return false end
  end
  return true
end

-- One choice: the first alternative that can be had, otherwise the first that can be waitlisted. It
-- is fulfilled if the student has one of them or waits for it, whatever its rank. A submission sent
-- twice, from two pages, must not count twice.
local function decide_choice(term, choice)
  local mine, weighed, chosen = term:selections(term.ask.student), {}, nil
  if attaches_swap(mine, choice) then
    local late = {}
    term:check_adding(late)
    term:check_leaving(late)
    if #late == 0 then return attach_swap(term, mine, choice) end
    local parts = check_alternative(term, mine, choice.alternatives[1])
    parts[1].reasons = late
    return { outcome = "refused", rank = 0, refused = { refuse_alternative(term, parts, choice) } }
  end
  for _, alternative in ipairs(choice.alternatives) do
    if has_all(mine, alternative) then
      local parts = check_alternative(term, mine, alternative)
      return { outcome = "refused", rank = 0, refused = { refuse_alternative(term, parts, choice) } }
    end
  end
  for rank, alternative in ipairs(choice.alternatives) do
    weighed[rank] = check_alternative(term, mine, alternative, choice.swap_out, choice.wait)
    if chance(weighed[rank]) == "seats" then chosen = rank break end
  end
  for rank, parts in ipairs(choice.wait and not chosen and weighed or {}) do
    if chance(parts) then chosen = rank break end
  end
  local refused = {}
  for rank, parts in ipairs(weighed) do
    if rank ~= chosen then refused[#refused + 1] = refuse_alternative(term, parts, choice, rank) end
  end
  local result = chosen and take(term, weighed[chosen], choice, chosen) or { outcome = "refused", rank = 0 }
  result.refused = refused
  return result
end

-- Whether the waiting room of a window still admits the student
-- (portal/waiting_room/functions/room.lua). The deciding step checks this: an access token ends
-- with the visit, whatever it says itself.
local function admitted(term, window)
  local ends = tonumber(redis.call("ZSCORE", term:key("room", window .. ":in"), term.ask.student))
  return ends and ends > term.at
end

-- Decide in the given order; answer in the order of the choices.
local function submit(term)
  local ask, results = term.ask, {}
  if ask.room and not admitted(term, ask.room) then return { error = "not_admitted" } end
  term:enter(ask.windows)
  for i = 1, #ask.choices do
    local at = ask.order and ask.order[i] or i
    results[at] = decide_choice(term, ask.choices[at])
  end
  return { at = term.at, results = results }
end
