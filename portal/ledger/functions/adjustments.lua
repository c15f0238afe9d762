-- Admin adjustments: add a student to a section, drop one, or move one, for a stated reason.

-- Whether a seat exists for this student: a free one belongs to the first student who may have it.
local function seat_for(term, section, student)
  local reserves, kept = term.ask.add.reserves, not has_unreserved(section)
  -- In a trial, the seat of the same move is already dropped, and so is a skip of its student.
  local gone = not term.is_trial and term.ask.drop or nil
  if term:claimable(section, reserves, gone) then return true end
  if not section.free or kept and not reserve_for(section, reserves) then return false end
  local head = term:actives(section.id, 1, kept, gone and student)[1]
  return head == tonumber(student) and term:comes_first(section, student)
end

local function check_addition(term, reasons, mine, rest)
  local ask, add = term.ask, term.ask.add
  if mine.held[add.section] or rest.held[add.section] then return nil, add_reason(reasons, "already_enrolled") end
  local section = term:section(add.section)
  add.windows, add.credit_limit = ask.windows, ask.credit_limit
  extend(reasons, term:refusal_reasons(section, rest, add))
  if section and not seat_for(term, section, ask.student) then add_reason(reasons, "full", full(section)) end
  if section then rest.held[add.section] = add.credits end
  return section
end

-- Every reason against the change, and the section to add. A move does not count as a drop of the
-- day. `rest` holds the selections that the student keeps; the added section joins them.
local function adjustment_reasons(term, mine, rest)
  local ask, reasons, section = term.ask, {}, nil
  if ask.drop and not mine.held[ask.drop] then add_reason(reasons, "not_enrolled", { section = ask.drop }) end
  if ask.add then
    section = check_addition(term, reasons, mine, rest)
  else
    local day, resets = today(ask.days, term.at)
    term:enter(ask.windows or {})
    extend(reasons, term.window_reasons)
    if tonumber(redis.call("HGET", term:key("drops", ask.student), day) or 0) >= ask.drop_limit then
      add_reason(reasons, "drop_limit", { limit = ask.drop_limit, resets = resets })
    end
  end
  if ask.drop then
    term:check_leaving(reasons)
    term:check_corequisites_kept(reasons, mine, rest)
  end
  return reasons, section
end

local function adjustment_reasons_now(term)
  local mine = term:selections(term.ask.student)
  return adjustment_reasons(term, mine, without(mine, { [term.ask.drop or 0] = true }))
end

-- Return the reasons that still refuse, and the codes of those that are overridden.
local function split_overridden(reasons, overrides)
  local waived = {}
  for _, code in ipairs(overrides or {}) do
    if not NOT_OVERRIDABLE[code] then waived[#waived + 1] = code end
  end
  return lift(reasons, waived)
end

-- A waiting student who is added counts as promoted; of their seats, only the named one is dropped.
local function enroll_by_admin(term, ask, section)
  local waits = redis.call("ZSCORE", term:key("queue", section.id), ask.student)
  if waits then term:unqueue(section, ask.student) end
  local name = waits and "promoted" or "enrolled"
  local seq = term:seat(name, section, ask.student, ask.add, { instead = ask.drop })
  return answer(term, "enrolled", section, { seq = seq, registration = seq, given_up = ask.drop })
end

local function drop_for_move(term, ask)
  local alone = term:lost_corequisites(ask.student, ask.drop, ask.add.section)
  term:drop_seat(ask.drop, ask.student, { swap = ask.add.section, alone = alone })
end

-- A drop beyond the overridden daily limit does not count against the student.
local function drop_by_admin(term)
  local ask, day = term.ask, nil
  if #lift({ { code = "drop_limit" } }, ask.overrides) > 0 then
    day = today(ask.days, term.at)
    redis.call("HINCRBY", term:key("drops", ask.student), day, 1)
  end
  local alone = term:lost_corequisites(ask.student, ask.drop)
  local section, seq, registration = term:drop_seat(ask.drop, ask.student, { day = day, alone = alone })
  return answer(term, "dropped", section, { seq = seq, registration = registration })
end

local function refused_adjustment(term, ask, reasons)
  return { outcome = "refused", at = term.at, section = ask.add and ask.add.section or ask.drop, reasons = reasons }
end

-- The student acted in no window.
local function begin_adjustment(term, aside)
  local ask = term.ask
  term.context = {
    reason = ask.reason, overrides = #aside > 0 and aside or nil,
    application = ask.application, mark = ask.mark,
  }
  term.during = nil
end

-- A refused adjustment is no attempt by the student, so it leaves no receipt.
local function adjust(term)
  local reasons, section = adjustment_reasons_now(term)
  local left, aside = split_overridden(reasons, term.ask.overrides)
  if #left > 0 then return refused_adjustment(term, term.ask, left) end
  begin_adjustment(term, aside)
  if not term.ask.add then return drop_by_admin(term) end
  if term.ask.drop then drop_for_move(term, term.ask) end
  return enroll_by_admin(term, term.ask, section)
end

local function preview(term) return { reasons = (adjustment_reasons_now(term)) } end

-- The request, without what the catalog adds.
local function adjusted(ask)
  return { ask.drop or 0, ask.add and { ask.add.section, ask.chosen_credits or 0 } or 0, ask.overrides or 0 }
end
