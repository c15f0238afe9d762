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

-- Return why a public value can't be used: the code of an error, nil if it can.
function Room:unfit_value(seed, scores, codes)
  local begun = number(self:field("called")) + number(self:field("late")) > 0
  if self.phase ~= "before" or begun or self.opens - self.at < LAST then return "late" end
  if self:field("seed") ~= seed then return "seed" end
  if redis.call("HLEN", scores) ~= codes then return "codes" end
end

-- Give all early entries the scores that follow from a public value, once, before the opening. The
-- scores wait in a hash of their own, so that those of a refused value are never used.
function Room:use_public_value(value, seed, prepared, codes)
  local known, scores = self:field("public"), self:key(prepared)
  if known then return { error = known ~= value and "other" or nil } end
  local unfit = self:unfit_value(seed, scores, codes)
  if unfit then return { error = unfit } end
  redis.call("RENAME", scores, self:key("drawn"))
  redis.call("PERSIST", self:key("drawn"))
  if self:records() then self:journal("queue_drawn", { public = value }) end
  redis.call("HSET", self.base, "public", value)
  local line = redis.call("ZRANGE", self:key("line"), 0, -1, "WITHSCORES")
  for i = 1, #line, 2 * MOST do self:draw_again(line, i, math.min(#line, i + 2 * MOST - 1)) end
  for _, id in ipairs(redis.call("ZRANGE", self:key("gone"), 0, -1)) do
    redis.call("ZADD", self:key("gone"), redis.call("ZSCORE", self:key("line"), id), id)
  end
  return {}
end

-- Give some entries of a line with scores their final scores; many in each call, as it stops all others.
function Room:draw_again(line, first, last)
  local ids, students, scored = {}, {}, {}
  for i = first, last, 2 do ids[#ids + 1] = line[i] end
  for i, who in ipairs(redis.call("HMGET", self:key("who"), unpack(ids))) do students[i] = who:match("^%d+") end
  for i, score in ipairs(redis.call("HMGET", self:key("drawn"), unpack(students))) do
    scored[2 * i - 1] = score or without_code(line[first + 2 * i - 1])
    scored[2 * i] = ids[i]
  end
  redis.call("ZADD", self:key("line"), unpack(scored))
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
