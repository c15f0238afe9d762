-- Events: seats taken and dropped, the journal, live counts, and answers.

function Term:next_seq() return redis.call("INCR", self:key("seq")) end

-- Enqueue a worker once, until it clears the mark.
function Term:call(worker)
  local first = redis.call("HSETNX", self:key("woken"), worker, 1) == 1
  if first then self.wake[#self.wake + 1] = worker end
end

function Term:journal(seq, name, event, unheard)
  event.seq, event.at, event.name, event.version = seq, self.at, name, 1
  event.actor, event.correlation = self.ask.actor or "system", self.ask.correlation or ""
  event.cause, event.request, event.during = self.cause, self.ask.idempotency_key, self.during
  with(event, self.context)
  -- The only list of an event that may be empty. Texts have their quotes escaped, so they cannot
  -- match.
  local json = cjson.encode(event)
  if event.times then json = json:gsub('"times":{}', '"times":[]', 1) end
  redis.call("XADD", self:key("journal"), seq .. "-0", "event", json)
  -- Open pages see the counts of a round at once, but no student hears before all seats are given.
  if self.quiet then event.student = nil end
  if not unheard then
    redis.call(PUBLISH, self:key("live"), self.quiet and cjson.encode(event) or json)
  end
  self:call("record")
  self:tally(event.act and name .. " " .. event.act or name)
end

-- Count outcomes by window in slots of ten seconds, for the pages of admins; they expire soon.
function Term:tally(what)
  local key = self:key("tally", math.floor(self.at / SLOT))
  local field = string.format("%d %s", self.during or 0, what)
  if redis.call("HINCRBY", key, field, 1) == 1 then redis.call("PEXPIRE", key, TALLIED) end
end

-- A free seat belongs to the waitlist while it has a student who was not skipped, until the last day
-- to add. While an allocation round gives out the seats of the section, it belongs to the round.
function Term:mark_vacancy(id, counts)
  local waits = vacant(counts) and not self:is_past("add_deadline")
  if waits and redis.call("HEXISTS", self:key("in_round"), id) == 0 then
    redis.call("SADD", self:key("vacant"), id)
    self:call("promote")
  else
    redis.call("SREM", self:key("vacant"), id)
  end
end

local function seats_of(counts)
  local capacity, taken, waiting, waitlist, status, _, skipped, kept, _, shared, used = unpack(counts)
  return {
    capacity = capacity, taken = taken, waiting = waiting,
    waitlist_capacity = waitlist, status = status, passed = skipped,
    kept = (kept or 0) > 0 and kept or nil, pool_capacity = shared, pool_taken = used,
  }
end

-- The sections of a pool with their counts, if these have changed too.
local function moved_along(seq, pool)
  local moved = {}
  for _, each in ipairs(pool.sections) do
    local counts = each.counts
    if counts[POOL_CAPACITY] ~= pool.capacity or counts[POOL_TAKEN] ~= pool.taken then
      counts[SEQ], counts[POOL_CAPACITY], counts[POOL_TAKEN] = seq, pool.capacity, pool.taken
      moved[#moved + 1] = each
    end
  end
  return moved
end

-- In the order of COUNTS in portal/ledger/types.py.
local function counts_of(section, seq)
  local shared = section.shared or {}
  return {
    section.capacity, section.taken, section.waiting, section.waitlist, section.status, seq, section.skipped,
    section.kept, section.unasked, shared.capacity, shared.taken,
  }
end

-- Count a section and those that share its seats, and journal the event.
function Term:record_event(seq, name, section, event)
  self:count(section)
  section.counts = counts_of(section, seq)
  local moved, also = section.shared and moved_along(seq, section.shared) or {}, {}
  if section.left_pool then extend(moved, moved_along(seq, self:pool(section.left_pool))) end
  for i, each in ipairs(moved) do also[i] = { section = each.id, seats = seats_of(each.counts) } end
  event.aggregate, event.section = "section:" .. section.id, section.id
  event.seats, event.also = seats_of(section.counts), #also > 0 and also or nil
  extend(moved, { section })
  for _, each in ipairs(moved) do
    redis.call("HSET", self:key("seats"), each.id, cjson.encode(each.counts))
  end
  self:journal(seq, name, event)
  for _, each in ipairs(moved) do self:mark_vacancy(each.id, each.counts) end
end

-- Count a section without an event; return whether a seat waits for a student.
function Term:recount(section)
  self:count(section)
  local counts = counts_of(section, self:counts(section.id)[SEQ])
  redis.call("HSET", self:key("seats"), section.id, cjson.encode(counts))
  self:mark_vacancy(section.id, counts)
  return vacant(counts)
end

function Term:seat(name, section, student, claim, more)
  local seq, waiting = self:next_seq(), self:selections(student).waiting
  local reserve = reserve_for(section, claim.reserves)
  local entry = table.concat({ claim.credits, seq, self.at, reserve }, ":")
  redis.call("HSET", self:key("roster", section.id), student, entry)
  self:count_reserved(section.id, reserve, 1)
  self:change_own(student, "HSET", "e:" .. section.id, claim.credits)
  if claim.corequisites then self:change_own(student, "HSET", "c:" .. section.id, cjson.encode(claim.corequisites)) end
  local event = {
    student = student, credits = claim.credits, registration = seq,
    corequisites = claim.corequisites, reserve = reserve, permitted = claim.permitted,
  }
  self:record_event(seq, name, section, with(event, more))
  self:retry_skipped_of(student, waiting)
  return seq
end

-- Give students skipped for a seat of the pool another chance, in its other sections.
function Term:retry_skipped_in_pool(pool)
  for _, each in ipairs(pool and pool.sections or {}) do
    if each.counts[PASSED] > 0 then self:retry_skipped(each.id) end
  end
end

-- Drop a held seat. Everyone on its waitlist gets another chance, as it is another seat.
function Term:drop_seat(id, student, more)
  local section, seq = self:section(id), self:next_seq()
  local entry = redis.call("HGET", self:key("roster", id), student)
  local credits, registration, reserve = entry:match("(%d+):(%d+):%d+:?(%d*)")
  local event = {
    student = student, credits = tonumber(credits), registration = tonumber(registration),
    reserve = tonumber(reserve),
  }
  self:count_reserved(id, event.reserve, -1)
  redis.call("HDEL", self:key("roster", id), student)
  self:change_own(student, "HDEL", "e:" .. id, "c:" .. id)
  redis.call("DEL", self:key("passed", id), self:key("aside", id))
  self:record_event(seq, "dropped", section, with(event, more))
  self:retry_skipped_in_pool(section.shared)
  self:retry_skipped_of(student)
  return section, seq, event.registration
end

-- Give those who were skipped for a section another chance, or only that student.
function Term:retry_skipped(id, student)
  local key = self:key("passed", id)
  local marked = student and redis.call("HDEL", key, student) or redis.call("DEL", key)
  if marked == 0 then return end
  local seq = self:next_seq()
  self:record_event(seq, "reconsidered", self:section(id), { student = student })
  return seq
end

-- A change of a student's seats changes the reasons that apply on their other waitlists.
function Term:retry_skipped_of(student, waiting)
  for _, id in ipairs(ids(waiting or self:selections(student).waiting)) do self:retry_skipped(id, student) end
end

function Term:unqueue(section, student)
  redis.call("ZREM", self:key("queue", section.id), student)
  redis.call("HDEL", self:key("passed", section.id), student)
  redis.call("HDEL", self:key("passes", section.id), student)
  redis.call("SREM", self:key("aside", section.id), student)
  self:change_own(student, "HDEL", "w:" .. section.id)
end

-- Answers -----------------------------------------------------------------------------------------

local function answer(term, outcome, section, fields)
  fields.outcome, fields.at, fields.section, fields.seats = outcome, term.at, section.id, section.counts
  return fields
end

-- A refusal with its receipt: no counts change, so no live update is sent.
local function refuse(term, act, id, reasons, more)
  local counts, seq = term:counts(id), term:next_seq()
  for _, reason in ipairs(reasons) do term:tally("reason " .. reason.code) end
  term:journal(seq, "refused", with({
    aggregate = "section:" .. id, section = id, student = term.ask.student,
    act = act, reasons = reasons, seats = counts and seats_of(counts),
  }, more), true)
  return { outcome = "refused", at = term.at, section = id, seq = seq, reasons = reasons }
end
