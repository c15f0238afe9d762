-- A batch of admin adjustments in one step. Every drop counts before any addition, so students can
-- change places in full sections. A refused student keeps the old seat, and the others are then
-- checked again.

-- A trial: the term as the batch would leave it so far. Nothing is written.
local Trial = { is_trial = true }
function Trial.__index(_, name) return Trial[name] or Term[name] end

function Trial.of(term)
  local trial = { prefix = term.prefix, at = term.at, changes = {}, asked_again = {}, kept = {}, known = {} }
  return setmetatable(trial, Trial)
end

-- A section's changes: seats taken, seats of each reserve, and waiting students who got a seat.
function Trial:change(id)
  local none = {
    taken = 0, reserves = {}, served = {}, retried = {}, waiting = 0, skipped = 0, aside = 0, freed = false,
  }
  self.changes[id] = self.changes[id] or none
  return self.changes[id]
end

function Trial:count_students(section)
  Term.count_students(self, section)
  local change = self:change(section.id)
  section.taken, section.waiting = section.taken + change.taken, section.waiting - change.waiting
  section.skipped = self.asked_again[section.id] and 0 or math.max(0, section.skipped - change.skipped)
end

-- Only for other sections of a pool: at this call a seat of the pool is free.
function Trial:counts(id)
  local section = self:facts(id)
  self:count_alone(section)
  local pool = Term.counts(self, id)[POOL_CAPACITY]
  return {
    section.capacity, section.taken, section.waiting, section.waitlist, section.status, 0, section.skipped,
    section.kept, section.unasked, pool, 0,
  }
end

function Trial:reserved(id)
  local held = Term.reserved(self, id)
  for reserve, by in pairs(self:change(id).reserves) do
    held[tostring(reserve)] = tonumber(held[tostring(reserve)] or 0) + by
  end
  return held
end

function Trial:count_aside(id)
  local change = self:change(id)
  return change.freed and 0 or Term.count_aside(self, id) - change.aside
end

function Trial:is_aside(id, student) return not self:change(id).freed and Term.is_aside(self, id, student) end

-- A waiting student who got a seat is no longer on the list.
function Trial:is_skipped(id, student)
  if self:change(id).served[tonumber(student)] then return true end
  if self:change(id).retried[tonumber(student)] then return false end
  return not self.asked_again[id] and Term.is_skipped(self, id, student)
end

-- The student's remaining selections, with what the batch has given so far.
function Trial:rest(student)
  self.kept[student] = self.kept[student] or without(self:selections(student), {})
  return self.kept[student]
end

-- A change of seats gives the student another chance on their own waitlists: see retry_skipped_of.
function Trial:retry_skipped_of(student)
  for id in pairs(self:selections(student).waiting) do
    local change = self:change(id)
    if not change.served[student] and not change.retried[student] and Term.is_skipped(self, id, student) then
      change.retried[student], change.skipped = true, change.skipped + 1
    end
  end
end

-- A freed seat gives every waiting student another chance, on all lists of the pool.
function Trial:drop(move)
  local entry = redis.call("HGET", self:key("roster", move.drop), move.student)
  if not entry then return end
  local change, reserve = self:change(move.drop), tonumber(entry:match("%d+:%d+:%d+:?(%d*)"))
  change.taken, change.freed = change.taken - 1, true
  if reserve then change.reserves[reserve] = (change.reserves[reserve] or 0) - 1 end
  self:rest(move.student).held[move.drop] = nil
  self.asked_again[move.drop] = true
  local pool = tonumber(redis.call("HGET", self:key("section", move.drop), "pool") or 0)
  for _, id in ipairs(pool > 0 and redis.call("SMEMBERS", self:key("pool", pool)) or {}) do
    self.asked_again[tonumber(id)] = true
  end
  self:retry_skipped_of(move.student)
end

function Trial:give(section, move)
  local change, student = self:change(section.id), move.student
  local reserve = reserve_for(section, move.add.reserves)
  change.taken = change.taken + 1
  if reserve then change.reserves[reserve] = (change.reserves[reserve] or 0) + 1 end
  if redis.call("ZSCORE", self:key("queue", section.id), student) then
    change.waiting = change.waiting + 1
    if not change.retried[student] and Term.is_skipped(self, section.id, student) then
      change.skipped = change.skipped + 1
    end
    if Term.is_aside(self, section.id, student) then change.aside = change.aside + 1 end
    change.served[student] = true
  end
  self:retry_skipped_of(student)
end

-- Return the reasons that refuse a move, and the overridden codes. Without reasons, make the move.
function Trial:check_move(move)
  self.ask = move
  local mine, rest = self:selections(move.student), self:rest(move.student)
  local reasons, section = adjustment_reasons(self, mine, rest)
  local left, aside = split_overridden(reasons, move.overrides)
  if section and #left == 0 then self:give(section, move) elseif section then rest.held[section.id] = nil end
  return left, aside
end

-- Return the moves that work together; the others get their answers.
local function decide_batch(term, moves, answers)
  local done, again, dropped = {}, nil, {}
  for i, move in ipairs(moves) do
    local seat = move.drop and not answers[i] and move.drop .. ":" .. move.student
    if seat and dropped[seat] then
      answers[i] = refused_adjustment(term, move, { { code = "not_enrolled", facts = { section = move.drop } } })
    elseif seat then
      dropped[seat] = true
    end
  end
  repeat
    local trial = Trial.of(term)
    done, again = {}, false
    for i, move in ipairs(moves) do
      if not answers[i] and move.drop then trial:drop(move) end
    end
    for i, move in ipairs(moves) do
      if not answers[i] then
        local left, aside = trial:check_move(move)
        move.aside = aside
        if #left > 0 then
          answers[i] = refused_adjustment(term, move, left)
          again = again or move.drop ~= nil -- its seat stays taken
        else
          done[#done + 1] = i
        end
      end
    end
  until not again
  return done
end

-- All drops come before any addition: no event shows more seats taken than before.
local function adjust_batch(term)
  local moves, answers, store = term.ask.moves, {}, {}
  term.cause = "adjust"
  for i, move in ipairs(moves) do
    setmetatable(move, { __index = term.ask })
    answers[i], store[i] = stored_answer(term, move, adjusted)
    if answers[i] and answers[i].error then return answers[i] end
  end
  local done = decide_batch(term, moves, answers)
  for _, i in ipairs(done) do
    term.ask = moves[i]
    begin_adjustment(term, moves[i].aside)
    if not moves[i].add then answers[i] = drop_by_admin(term) elseif moves[i].drop then drop_for_move(term, moves[i]) end
  end
  for _, i in ipairs(done) do
    term.ask = moves[i]
    begin_adjustment(term, moves[i].aside)
    if moves[i].add then answers[i] = enroll_by_admin(term, moves[i], term:section(moves[i].add.section)) end
    store[i](answers[i])
  end
  return { answers = answers }
end
