-- What happens: seats given and given up, journaled and told; and what is answered.

function Term:next_seq() return redis.call("INCR", self:key("seq")) end

-- Only the first to need a worker calls it, until the worker clears the mark.
function Term:call(worker)
  local first = redis.call("HSETNX", self:key("woken"), worker, 1) == 1
  if first then self.wake[#self.wake + 1] = worker end
end

function Term:journal(seq, name, event, unheard)
  event.seq, event.at, event.name, event.version = seq, self.at, name, 1
  event.actor, event.correlation = self.ask.actor or "system", self.ask.correlation or ""
  event.cause, event.request, event.during = self.cause, self.ask.request, self.during
  with(event, self.context)
  -- The one list of an event that may be empty. Quotes in a text are escaped, so this is no text.
  local json = cjson.encode(event):gsub('"times":{}', '"times":[]', 1)
  redis.call("XADD", self:key("journal"), seq .. "-0", "event", json)
  if not unheard then redis.call("PUBLISH", self:key("live"), json) end
  self:call("record")
  self:tally(event.act and name .. " " .. event.act or name)
end

-- How often what happens, by tens of seconds: for whoever watches, and forgotten soon.
function Term:tally(what)
  local key = self:key("tally", math.floor(self.at / SLOT))
  if redis.call("HINCRBY", key, what, 1) == 1 then redis.call("PEXPIRE", key, TALLIED) end
end

-- A free seat belongs to the list while anyone on it has not been passed over.
function Term:mark_vacancy(id, counts)
  if vacant(counts) then
    redis.call("SADD", self:key("vacant"), id)
    self:call("promote")
  else
    redis.call("SREM", self:key("vacant"), id)
  end
end

local function seats_of(counts)
  local capacity, taken, waiting, waitlist, status, _, passed, kept, _, shared, used = unpack(counts)
  return {
    capacity = capacity, taken = taken, waiting = waiting,
    waitlist_capacity = waitlist, status = status, passed = passed,
    kept = (kept or 0) > 0 and kept or nil, pool_capacity = shared, pool_taken = used,
  }
end

-- The sections of a pool, with their counts, where these have moved along.
local function moved_along(seq, pool)
  local moved = {}
  for _, each in ipairs(pool.sections) do
    local counts = each.counts
    if counts[10] ~= pool.capacity or counts[11] ~= pool.taken then
      counts[6], counts[10], counts[11] = seq, pool.capacity, pool.taken
      moved[#moved + 1] = each
    end
  end
  return moved
end

local function counts_of(section, seq)
  local shared = section.shared or {}
  return {
    section.capacity, section.taken, section.waiting, section.waitlist, section.status, seq, section.passed,
    section.kept, section.unasked, shared.capacity, shared.taken,
  }
end

-- Count a section anew, and those that share seats with it, and journal what happened to it.
function Term:tell(seq, name, section, event)
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

-- Count a section of which there is nothing to tell; gives whether a seat waits for someone in line.
function Term:look_again(section)
  self:count(section)
  local counts = counts_of(section, self:counts(section.id)[6])
  redis.call("HSET", self:key("seats"), section.id, cjson.encode(counts))
  self:mark_vacancy(section.id, counts)
  return vacant(counts)
end

function Term:seat(name, section, student, wish, more)
  local seq, own = self:next_seq(), self:key("student", student)
  local reserve = reserve_for(section, wish.reserves)
  local entry = table.concat({ wish.credits, seq, self.at, reserve }, ":")
  redis.call("HSET", self:key("roster", section.id), student, entry)
  self:count_reserved(section.id, reserve, 1)
  redis.call("HSET", own, "e:" .. section.id, wish.credits)
  if wish.corequisites then redis.call("HSET", own, "c:" .. section.id, cjson.encode(wish.corequisites)) end
  local event = {
    student = student, credits = wish.credits, registration = seq,
    corequisites = wish.corequisites, reserve = reserve,
  }
  self:tell(seq, name, section, with(event, more))
  self:reprieve_everywhere(student)
  return seq
end

-- Have those who were passed over for a seat of the pool asked again, in its other sections.
function Term:reprieve_pool(pool)
  for _, each in ipairs(pool and pool.sections or {}) do
    if each.counts[7] > 0 then self:reprieve(each.id) end
  end
end

-- Give a held seat up; everyone on its list is asked again, as it is another seat.
function Term:release(id, student, more)
  local section, seq, own = self:section(id), self:next_seq(), self:key("student", student)
  local entry = redis.call("HGET", self:key("roster", id), student)
  local credits, registration, reserve = entry:match("(%d+):(%d+):%d+:?(%d*)")
  local event = {
    student = student, credits = tonumber(credits), registration = tonumber(registration),
    reserve = tonumber(reserve),
  }
  self:count_reserved(id, event.reserve, -1)
  redis.call("HDEL", self:key("roster", id), student)
  redis.call("HDEL", own, "e:" .. id, "c:" .. id)
  redis.call("DEL", self:key("passed", id), self:key("aside", id))
  self:tell(seq, "dropped", section, with(event, more))
  self:reprieve_pool(section.shared)
  self:reprieve_everywhere(student)
  return section, seq, event.registration
end

-- Give those who were passed over for a section another chance, or only that student.
function Term:reprieve(id, student)
  local key = self:key("passed", id)
  local marked = student and redis.call("HDEL", key, student) or redis.call("DEL", key)
  if marked == 0 then return end
  local seq = self:next_seq()
  self:tell(seq, "reconsidered", self:section(id), { student = student })
  return seq
end

-- With a student's own seats changes what stands in the way on that student's lists.
function Term:reprieve_everywhere(student)
  for _, id in ipairs(ids(self:selections(student).waiting)) do self:reprieve(id, student) end
end

function Term:unqueue(section, student)
  redis.call("ZREM", self:key("queue", section.id), student)
  redis.call("HDEL", self:key("passed", section.id), student)
  redis.call("HDEL", self:key("passes", section.id), student)
  redis.call("SREM", self:key("aside", section.id), student)
  redis.call("HDEL", self:key("student", student), "w:" .. section.id)
end

-- Answers -----------------------------------------------------------------------------------------

local function answer(term, outcome, section, fields)
  fields.outcome, fields.at, fields.section, fields.seats = outcome, term.at, section.id, section.counts
  return fields
end

-- A refusal with its receipt: nobody's counts move, so no page is told.
local function refuse(term, act, id, reasons, more)
  local counts, seq = term:counts(id), term:next_seq()
  for _, reason in ipairs(reasons) do term:tally("reason " .. reason.code) end
  term:journal(seq, "refused", with({
    aggregate = "section:" .. id, section = id, student = term.ask.student,
    act = act, reasons = reasons, seats = counts and seats_of(counts),
  }, more), true)
  return { outcome = "refused", at = term.at, section = id, seq = seq, reasons = reasons }
end

-- Idempotency: every answer is kept under the caller's key for a day, refusals too, in the step that
-- decides. The same key with the same content gets the stored answer; with other content, an error.
-- Only a batch of adjustments (adjust_batch.lua) has its refusals decided again. An error, such as a
-- waiting room that does not let the student in, decides nothing and is not kept.

-- The answer that is stored under a request's key, nil where there is none; the key, and a hash of
-- what is asked.
local function stored_answer(term, ask, content)
  if not ask.request or ask.request == "" then return nil end
  local key = term:key("request", ask.student .. ":" .. ask.request)
  local asked = redis.sha1hex(cjson.encode({ term.cause, content(ask) }))
  local stored = redis.call("GET", key)
  if not stored then return nil, key, asked end
  stored = cjson.decode(stored)
  stored.answer.replayed = true
  return stored.asked == asked and stored.answer or { error = "key_reused" }
end

local function store_answer(key, asked, reply)
  redis.call("SET", key, cjson.encode({ asked = asked, answer = reply }), "PX", DAY)
end

local function once(content, decide)
  return function(term)
    local stored, key, asked = stored_answer(term, term.ask, content)
    if stored then return stored end
    local reply = decide(term)
    if key and not reply.error then
      reply.at, reply.wake = reply.at or term.at, term.wake
      store_answer(key, asked, reply)
    end
    return reply
  end
end
