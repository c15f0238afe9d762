-- Refusals: every reason why a student cannot have a section.

-- The open one of these windows; of several, the one that opened last. Otherwise the reason why
-- none is open, the most hopeful one that applies.
local function window_now(term, windows)
  local current, since, opens, closed
  local found = #windows > 0 and redis.call("HMGET", term:key("windows"), unpack(windows)) or {}
  for i, json in ipairs(found) do
    local window = json and cjson.decode(json)
    if window and window.state ~= "canceled" then
      if term.at < window.opens then
        opens = math.min(opens or window.opens, window.opens)
      elseif term.at < window.closes and window.state == "scheduled" then
        if not current or window.opens > since then current, since = windows[i], window.opens end
      else
        closed = math.max(closed or window.closes, window.closes)
      end
    end
  end
  local reasons = {}
  if current then return current, reasons end
  if opens then add_reason(reasons, "window_before", { opens = opens })
  elseif closed then add_reason(reasons, "window_ended", { closes = closed })
  else add_reason(reasons, "window_unscheduled") end
  return nil, reasons
end

-- Decide by these windows from here on; they are read once. Events carry the open one.
function Term:enter(windows)
  if self.windows == windows then return end
  self.windows, self.during, self.window_reasons = windows, window_now(self, windows)
end

-- Add the reason if it is too late to add a section.
function Term:check_adding(reasons)
  if self:is_past("add_deadline") then
    add_reason(reasons, "add_deadline", { closes = self:deadline("add_deadline") })
  end
end

-- Add the reason if it is too late to give up a seat, also in a swap.
function Term:check_leaving(reasons)
  local withdraw = self:deadline("withdraw_deadline")
  if self:is_past("withdraw_deadline") then
    add_reason(reasons, "withdraw_deadline", { closes = withdraw })
  elseif self:is_past("drop_deadline") then
    add_reason(reasons, "drop_deadline", { closes = self:deadline("drop_deadline"), withdraw = withdraw })
  end
end

-- Add the reasons in a student's own seats against another section; `taken_with` are courses of the
-- same submission.
function Term:check_selections(reasons, section, mine, claim, taken_with)
  local courses, held, clashes = with({}, taken_with), 0, {}
  for _, id in ipairs(ids(mine.held)) do
    local course, times = unpack(redis.call("HMGET", self:key("section", id), "course", "times"))
    course = tonumber(course)
    courses[course], held = true, held + mine.held[id]
    if course == section.course then add_reason(reasons, "same_course", { section = id }) end
    if clash(section.times, cjson.decode(times)) then add_reason(clashes, "time_conflict", { section = id }) end
  end
  extend(reasons, clashes)
  if claim.credits < section.credits_min or claim.credits > section.credits_max then
    add_reason(reasons, "credit_range", { min = section.credits_min, max = section.credits_max })
  end
  if held + claim.credits > claim.credit_limit then
    add_reason(reasons, "credit_limit", { held = held, adds = claim.credits, limit = claim.credit_limit })
  end
  local needs = claim.corequisites or claim.waived_corequisites
  local missing = needs and lacking(needs, courses) or {}
  if #missing > 0 then add_reason(reasons, "corequisite", { missing = missing }) end
end

-- The details of a section without a seat for the student.
local function full(section)
  local kept = section.free and math.min(section.kept, section.capacity - section.taken) or 0
  local facts = { waiting = section.waiting, waitlist_capacity = section.waitlist }
  if kept > 0 then facts.kept, facts.kept_for = kept, active_reserves(section) end
  return facts
end

-- Return the reasons whose codes are not waived, and the waived codes that lifted a reason.
local function lift(reasons, waived)
  if not waived then return reasons, {} end
  local left, passes, found, lifted = {}, {}, {}, {}
  for _, code in ipairs(waived) do passes[code] = true end
  for _, reason in ipairs(reasons) do
    if passes[reason.code] then found[reason.code] = true else left[#left + 1] = reason end
  end
  for _, code in ipairs(waived) do
    if found[code] then lifted[#lifted + 1] = code end
  end
  return left, lifted
end

-- Every reason why a student may not have this section, apart from seats. `claim` comes from the
-- submission or the candidate: credits, the student's credit limit, windows, corequisites, waived
-- codes, and the caller's own rules. It gets `permitted`, the codes that a permission lifted, for the event.
function Term:refusal_reasons(section, mine, claim, taken_with)
  local reasons = {}
  self:enter(claim.windows or {})
  extend(reasons, self.window_reasons)
  self:check_adding(reasons)
  if not section then
    add_reason(reasons, "section_unknown")
  else
    if section.status ~= "OPEN" then add_reason(reasons, "section_" .. section.status:lower()) end
    if self:round_of(section.id) then add_reason(reasons, "in_round") end
    self:check_selections(reasons, section, mine, claim, taken_with)
  end
  for _, rule in ipairs(claim.rules or {}) do
    if section or rule.code ~= "section_unknown" then extend(reasons, { rule }) end
  end
  local left, lifted = lift(reasons, claim.waived)
  claim.permitted = #lifted > 0 and lifted or nil
  return left
end

-- The waitlist positions that stand in for a seat's corequisites: those taken in the step that gave
-- the seat. A position joined later may be left again, as the seat is held without it. Steps of the
-- same millisecond count as one: the position can then be left only together with the seat.
function Term:waiting_corequisites(id, mine)
  local found = {}
  if not next(mine.waiting) then return found end
  local entry = redis.call("HGET", self:key("roster", id), mine.student)
  local since = entry and tonumber(entry:match("%d+:%d+:(%d+)"))
  for section, place in pairs(mine.waiting) do
    if place.at == since then found[section] = place end
  end
  return found
end

-- How well a seat's corequisites are met: 2 by seats, 1 by seats and stand-ins, 0 not at all; and
-- the courses that lack a seat.
function Term:met(id, needs, mine)
  local courses = self:courses(mine.held)
  local missing = lacking(needs, courses)
  if #missing == 0 then return 2, missing end
  local places = self:courses(self:waiting_corequisites(id, mine))
  return #lacking(needs, with(courses, places)) == 0 and 1 or 0, missing
end

-- Return whether a held section's corequisites are met less well without these sections, and the
-- missing ones.
function Term:loses(id, mine, gone, after)
  local needs = mine.needs[id]
  if not needs then return false end
  local level, missing = self:met(id, needs, after or without(mine, gone))
  return level < 2 and self:met(id, needs, mine) > level, missing
end

-- Add a reason if a kept seat would lose a corequisite that it has had. A waitlist position cannot
-- replace a seat.
function Term:check_corequisites_kept(reasons, before, after)
  for _, id in ipairs(ids(after.held)) do
    local loses, missing = self:loses(id, before, nil, after)
    if loses then add_reason(reasons, "needed_by", { section = id, missing = missing }) end
  end
end

-- The held sections that lose a corequisite with the student's seat or position in one; nil if
-- none. `gained` replaces it.
function Term:lost_corequisites(student, gone, gained)
  local reasons, mine, found = {}, self:selections(student), {}
  local after = without(mine, { [gone] = true })
  if gained then after.held[gained] = 0 end
  self:check_corequisites_kept(reasons, mine, after)
  for i, reason in ipairs(reasons) do found[i] = reason.facts.section end
  return #found > 0 and found or nil
end
