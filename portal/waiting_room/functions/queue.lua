-- Entries in the queue. A student keeps one by sending heartbeats.

function Room:entry(student)
  local id = redis.call("HGET", self:key("mine"), student)
  if not id then return {} end
  local entry = { request = id, since = tonumber(redis.call("HGET", self:key("who"), id):match(":(%d+)")) }
  if self.phase == "before" then
    entry.kind = "early"
    return entry
  end
  entry.number = redis.call("ZRANK", self:key("line"), id) + 1
  local back, ends = redis.call("ZRANK", self:key("back"), id), self:inside(student)
  if ends then
    entry.kind, entry.ends = "called", ends
    -- A visit begins with its first page, which is told the same end as the next one.
    local begins = self.at
    if not redis.call("ZSCORE", self:key("away"), id) then
      begins = tonumber(redis.call("HGET", self:key("came"), student) or self.at)
    end
    entry.last = math.max(ends, begins + LONGEST)
  elseif back then
    entry.kind, entry.ahead = "waiting", back
  elseif entry.number > number(self:field("called")) then
    local score = redis.call("ZSCORE", self:key("line"), id)
    local before = redis.call("ZCARD", self:key("back")) - redis.call("ZCOUNT", self:key("gone"), "-inf", "(" .. score)
    entry.kind, entry.ahead = "waiting", entry.number - number(self:field("called")) - 1 + before
  else
    entry.kind = "gone"
  end
  return entry
end

-- Return how many students wait; those who left before their turn do not.
function Room:waiting()
  local line, back = redis.call("ZCARD", self:key("line")), redis.call("ZCARD", self:key("back"))
  return line - number(self:field("called")) + back - redis.call("ZCARD", self:key("gone"))
end

-- Return whether the queue has not come to an entry yet.
function Room:is_ahead(id)
  return redis.call("ZRANK", self:key("line"), id) >= number(self:field("called"))
end

-- Return when the visit of a called student ends; nil for others.
function Room:inside(student)
  local ends = tonumber(redis.call("ZSCORE", self:key("in"), student))
  return ends and ends > self.at and ends or nil
end

-- Note that a student was heard. After a silence of all students, skip none of them until all have
-- had time to send a heartbeat again.
function Room:record_any_heartbeat()
  if self.phase == "unknown" then return end -- anyone may ask for any number
  local heard = number(self:field("heard"))
  if heard > 0 and self.at - heard > SILENCE then redis.call("HSET", self.base, "patient", self.at + PATIENCE) end
  redis.call("HSET", self.base, "heard", self.at)
end

-- Record a heartbeat; a student who was skipped, or did not come when admitted, is at the front again.
function Room:record_heartbeat(student)
  local id = redis.call("HGET", self:key("mine"), student)
  if not id then return end
  redis.call("ZADD", self:key("seen"), self.at, id)
  if self:inside(student) then return end
  local chance = tonumber(redis.call("ZSCORE", self:key("away"), id))
  if not chance then return end
  redis.call("ZREM", self:key("away"), id)
  if chance > self.at then
    redis.call("ZADD", self:key("back"), redis.call("ZSCORE", self:key("line"), id), id)
  end
end

-- Give students who left the queue their old entry: the draw counts once.
function Room:restore_entry(student)
  local left = redis.call("HGET", self:key("left"), student)
  if not left then return end
  redis.call("HSETNX", self:key("mine"), student, left)
  redis.call("HDEL", self:key("left"), student)
  redis.call("ZREM", self:key("gone"), left)
  self:journal_entry("queue_returned", student, left)
end

-- Return the score of a student without a code, from the rank of the request.
local function without_code(fraction) return string.format("%.17g", 0.5 + fraction / 2) end

-- Return the score of a student who comes early. With a public value it follows from the code that
-- was fixed for the student; those without a code come after all others.
function Room:early_score(student, fraction)
  if not self:field("public") then return fraction end
  return redis.call("HGET", self:key("drawn"), student) or without_code(fraction)
end

-- Add a queue position. The fraction, in [0, 1), orders those who come early. After the first
-- admission no student is early, even if the clock goes back in a failover.
function Room:join()
  local ask, score = self.ask, nil
  local begun = number(self:field("called")) + number(self:field("late")) > 0
  local late = self.phase == "open" or begun
  if late then
    score = redis.call("HINCRBY", self.base, "late", 1)
  else
    score = self:early_score(ask.student, ask.fraction)
  end
  self:journal_entry("queue_joined", ask.student, ask.request, { number = late and score or nil })
  redis.call("ZADD", self:key("line"), score, ask.request)
  redis.call("HSET", self:key("who"), ask.request, ask.student .. ":" .. self.at)
  redis.call("HSET", self:key("mine"), ask.student, ask.request)
  redis.call("ZADD", self:key("seen"), self.at, ask.request)
end
