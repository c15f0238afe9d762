-- Actions of admins and programs on a room: let students in, end a visit, empty it.

-- Admit the next students whatever the limits. Return how many; the same again for the same key.
function Room:let_in(count, key)
  local done = redis.call("HGET", self:key("done"), key)
  if done then return tonumber(done) end
  self.called, self.looked = number(self:field("called")), 0
  local called = self:call_next(count)
  redis.call("HSET", self:key("done"), key, #called)
  return #called
end

-- End the visit of an admitted student, who may join the queue again. Return whether there was one;
-- once true, the same again for the same key.
function Room:expire(student, key)
  local field = "expire:" .. key
  if redis.call("HEXISTS", self:key("done"), field) == 1 then return true end
  local inside = self:inside(student)
  redis.call("ZREM", self:key("in"), student)
  if not inside then return false end
  local id = redis.call("HGET", self:key("mine"), student)
  redis.call("HDEL", self:key("mine"), student)
  if id then
    redis.call("ZREM", self:key("away"), id)
    redis.call("ZREM", self:key("seen"), id)
    self:journal_entry("queue_left", student, id, { visit = true })
  end
  redis.call("HSET", self:key("done"), field, 1)
  self:admit()
  return true
end

-- Empty the queue and end all visits; limits and the seed of the draw stay. Return how many waited
-- and were inside; the same again for the same key.
function Room:reset(key)
  local field = "reset:" .. key
  local done = redis.call("HGET", self:key("done"), field)
  if done then return cjson.decode(done) end
  local emptied = { waiting = self:waiting(), inside = self:state().inside }
  local keys = {}
  for _, kind in ipairs({ "line", "who", "mine", "left", "came", "seen", "in", "away", "back", "gone", "pace", "estimates" }) do
    keys[#keys + 1] = self:key(kind)
  end
  if redis.call("ZCARD", self:key("line")) > 0 and self:records() then self:journal("queue_reset", {}) end
  redis.call("UNLINK", unpack(keys))
  redis.call("HDEL", self.base, "called", "late", "allowance", "allowed_at", "right", "wrong", "patient")
  redis.call("HSET", self:key("done"), field, cjson.encode(emptied))
  self:publish({})
  return emptied
end
