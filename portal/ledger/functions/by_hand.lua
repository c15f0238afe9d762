-- By hand: a student is put into a section, taken out of one, or moved, for a stated reason.

-- What can't be put aside, as there would be no sense in it.
local FIRM = {
  already_enrolled = true, not_enrolled = true, student_unknown = true,
  section_unknown = true, section_new = true, section_canceled = true,
}

-- Whether a seat is there for this student: a free one belongs to the first who may have it.
local function seat_for(term, section, student)
  local reserves, kept = term.ask.add.reserves, not unkept(section)
  -- In a trial the seat that goes with it is dropped already.
  if term:claimable(section, reserves, not term.is_trial and term.ask.drop or nil) then return true end
  if not section.free or kept and not reserve_for(section, reserves) then return false end
  local head = term:actives(section.id, 1, kept)[1]
  return head == tonumber(student) and term:comes_first(section, student)
end

local function object_addition(term, reasons, mine, rest)
  local ask, add = term.ask, term.ask.add
  if mine.held[add.section] or rest.held[add.section] then return nil, object(reasons, "already_enrolled") end
  local section = term:section(add.section)
  add.windows, add.limit = ask.windows, ask.limit
  extend(reasons, term:objections(section, rest, add))
  if section and not seat_for(term, section, ask.student) then object(reasons, "full", full(section)) end
  if section then rest.held[add.section] = add.credits end
  return section
end

-- Everything that stands in the way, and the section that would be had. A move is no drop of the day.
-- `rest` is what the student keeps; the section that is added joins it.
local function objections_by_hand(term, mine, rest)
  local ask, reasons, section = term.ask, {}, nil
  if ask.drop and not mine.held[ask.drop] then object(reasons, "not_enrolled", { section = ask.drop }) end
  if ask.add then
    section = object_addition(term, reasons, mine, rest)
  else
    local day, resets = today(ask.days, term.at)
    term:enter(ask.windows or {})
    extend(reasons, term.barred)
    if tonumber(redis.call("HGET", term:key("drops", ask.student), day) or 0) >= ask.drop_limit then
      object(reasons, "drop_limit", { limit = ask.drop_limit, resets = resets })
    end
  end
  if ask.drop then term:object_loss(reasons, mine, rest) end
  return reasons, section
end

local function objections_now(term)
  local mine = term:selections(term.ask.student)
  return objections_by_hand(term, mine, without(mine, { [term.ask.drop or 0] = true }))
end

-- The reasons that still hold, and the codes of those that are put aside.
local function sift(reasons, overrides)
  local found, aside = {}, {}
  for _, reason in ipairs(reasons) do found[reason.code] = true end
  for _, code in ipairs(overrides or {}) do
    if found[code] and not FIRM[code] then aside[#aside + 1] = code end
  end
  return permitted(reasons, aside), aside
end

-- A waiter who is added has been promoted, and no seat goes for it but the one that is named.
local function seat_by_hand(term, ask, section)
  local waits = redis.call("ZSCORE", term:key("queue", section.id), ask.student)
  if waits then term:unqueue(section, ask.student) end
  local name = waits and "promoted" or "enrolled"
  local seq = term:seat(name, section, ask.student, ask.add, { instead = ask.drop })
  return answer(term, "enrolled", section, { seq = seq, registration = seq, given_up = ask.drop })
end

local function release_for(term, ask)
  local alone = term:orphans(ask.student, ask.drop, ask.add.section)
  term:release(ask.drop, ask.student, { swap = ask.add.section, alone = alone })
end

-- Where the limit of the day is put aside, it isn't counted against the student either.
local function drop_by_hand(term)
  local ask, day = term.ask, nil
  if #permitted({ { code = "drop_limit" } }, ask.overrides) > 0 then
    day = today(ask.days, term.at)
    redis.call("HINCRBY", term:key("drops", ask.student), day, 1)
  end
  local alone = term:orphans(ask.student, ask.drop)
  local section, seq, registration = term:release(ask.drop, ask.student, { day = day, alone = alone })
  return answer(term, "dropped", section, { seq = seq, registration = registration })
end

local function refused_by_hand(term, ask, reasons)
  return { outcome = "refused", at = term.at, section = ask.add and ask.add.section or ask.drop, reasons = reasons }
end

-- The student has done nothing in any window.
local function begin_by_hand(term, aside)
  term.context = { reason = term.ask.reason, overrides = #aside > 0 and aside or nil }
  term.during = nil
end

-- What is refused here was no attempt of the student's, so it leaves no receipt.
local function adjust(term)
  local reasons, section = objections_now(term)
  local left, aside = sift(reasons, term.ask.overrides)
  if #left > 0 then return refused_by_hand(term, term.ask, left) end
  begin_by_hand(term, aside)
  if not term.ask.add then return drop_by_hand(term) end
  if term.ask.drop then release_for(term, term.ask) end
  return seat_by_hand(term, term.ask, section)
end

local function preview(term) return { reasons = (objections_now(term)) } end

-- What was asked for, without what the catalog adds.
local function adjusted(ask)
  return { ask.drop or 0, ask.add and { ask.add.section, ask.asked or 0 } or 0, ask.overrides or 0 }
end
