-- Admissions: which student is next, and how many at once.

-- The share of the limit per minute that is admitted. Each second it falls by a tenth while pages are
-- slow, and rises by a hundredth of the limit, so it stays above 9 %. It rises slowly, because those
-- admitted ask for pages for minutes.
local LESS, MORE = 0.9, 0.01

function Room:share()
  if not self.known_share then
    local since = self.at - number(self:field("share_at")) -- negative if the clock went back
    local risen = number(self:field("share")) + MORE * since / 1000
    self.known_share = since < 0 and 1 or math.min(1, risen)
  end
  return self.known_share
end

function Room:cut_share()
  local since = self.at - number(self:field("share_at"))
  if since >= 0 and since < STEP then return end
  self.known_share = self:share() * LESS
  redis.call("HSET", self.base, "share", self.known_share, "share_at", self.at)
end

function Room:restore_share()
  self.known_share = 1
  redis.call("HDEL", self.base, "share", "share_at")
end

-- Return how many students the limit per minute admits now.
function Room:gained(per_minute)
  if per_minute == 0 then return 0 end
  per_minute = per_minute * self:share()
  local most = math.max(1, per_minute * BURST / 60000)
  local since = tonumber(self:field("allowed_at")) or self.opens - START
  local gained = math.max(0, self.at - since) * per_minute / 60000
  return math.min(most, math.max(0, number(self:field("allowance"))) + gained)
end

function Room:allowance()
  local per_minute, at_once, off = self:limits()
  if off then return MOST end
  self.allowed = self:gained(per_minute)
  redis.call("ZREMRANGEBYSCORE", self:key("in"), "-inf", self.at)
  return math.floor(math.min(self.allowed, at_once - redis.call("ZCARD", self:key("in"))))
end

function Room:alive(id)
  local seen = tonumber(redis.call("ZSCORE", self:key("seen"), id)) -- nil: has left
  return seen and (seen + PATIENCE > self.at or number(self:field("patient")) > self.at)
end

-- Return the next student to admit, nil if the queue is empty. Skip those who left or are silent.
function Room:next()
  while self.looked < MOST do
    self.looked = self.looked + 1
    local id = redis.call("ZPOPMIN", self:key("back"))[1]
    if not id then
      id = redis.call("ZRANGE", self:key("line"), self.called, self.called)[1]
      if not id then return nil end
      self.called = self.called + 1
    end
    local student = redis.call("HGET", self:key("who"), id):match("^%d+")
    redis.call("ZREM", self:key("gone"), id)
    if redis.call("HGET", self:key("mine"), student) == id then
      redis.call("ZADD", self:key("away"), self.at + CHANCE, id)
      if self:alive(id) then return id, student end
      redis.call("HDEL", self:key("estimates"), id)
    end
  end
end

-- Count whether a student's wait was within the range that they were shown.
function Room:compare(id)
  local at, least, most = (redis.call("HGET", self:key("estimates"), id) or ""):match("(%d+):(%d+):(%d+)")
  if not at then return end
  redis.call("HDEL", self:key("estimates"), id)
  local waited = self.at - at
  local right = waited >= tonumber(least) and waited <= tonumber(most)
  redis.call("HINCRBY", self.base, right and "right" or "wrong", 1)
end

function Room:note_pace(count)
  local pace, slot = self:key("pace"), math.floor(self.at / SLOT)
  redis.call("HINCRBY", pace, slot, count)
  for _, each in ipairs(redis.call("HKEYS", pace)) do
    if tonumber(each) <= slot - SLOTS then redis.call("HDEL", pace, each) end
  end
end

function Room:admit()
  if self.phase ~= "open" or self:fenced() then return end
  -- Those who left are passed too, so that their number stays small.
  if self:waiting() + redis.call("ZCARD", self:key("gone")) == 0 then return end
  if self.at - number(self:field("heard")) > SILENCE then return end -- no page would receive it
  self.called, self.looked = number(self:field("called")), 0
  self:call_next(self:allowance())
end

-- Admit the next students, at most so many; return them.
function Room:call_next(allowed)
  local before, called, entries = self.called, {}, {}
  while #called < allowed do
    local id, student = self:next()
    if not id then break end
    called[#called + 1], entries[#entries + 1] = tonumber(student), id
    redis.call("ZADD", self:key("in"), self.at + TAKE, student)
    self:compare(id)
  end
  if self.allowed then
    redis.call("HSET", self.base, "allowance", self.allowed - #called, "allowed_at", self.at)
  end
  if self.called == before and #called == 0 then return called end
  if self:records() then
    self:journal("queue_admitted", { called = self.called, entries = #entries > 0 and entries or nil })
  end
  redis.call("HSET", self.base, "called", self.called)
  self:note_pace(self.called - before)
  self:publish(called)
  return called
end

function Room:publish(called)
  local state = self:state()
  state.window, state.students = self.window, called
  redis.call(PUBLISH, self.term .. ":room", cjson.encode(state))
end

-- Publish the state when the first student begins to wait, or the last one no longer does.
function Room:publish_turn(before)
  if self.phase == "open" and (before > 0) ~= (self:waiting() > 0) then self:publish({}) end
end

-- Remove keys that are no longer needed; the draw stays, so that anyone can check it.
function Room:tidy()
  if self.phase ~= "ended" or self.at < self.closes + KEEP then return end
  local keys = {}
  local kinds = { "mine", "left", "came", "seen", "in", "away", "back", "gone", "pace", "estimates", "done", "drawn" }
  for _, kind in ipairs(kinds) do
    keys[#keys + 1] = self:key(kind)
  end
  redis.call("UNLINK", unpack(keys))
end
