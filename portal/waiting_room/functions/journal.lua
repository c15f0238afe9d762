-- Events of the waiting room. They go into the journal of the term, in the step that makes the change.

-- Return whether the term is fenced: then no event may be added.
function Room:fenced() return redis.call("EXISTS", self.term .. ":fence") == 1 end

function Room:journal(name, event)
  local seq = redis.call("INCR", self.term .. ":seq")
  event.seq, event.at, event.name, event.version = seq, self.at, name, 1
  event.aggregate, event.window = "queue:" .. self.window, self.window
  event.actor = event.student and "student:" .. event.student or "system"
  redis.call("XADD", self.term .. ":journal", seq .. "-0", "event", cjson.encode(event))
end

-- Return whether events are recorded. The first one of a room says whether anyone came before it:
-- then the record of the room stays incomplete.
function Room:records()
  if not self.ask.record then
    if self:field("recorded") == "1" then redis.call("HSET", self.base, "recorded", 0) end
    return false
  end
  if self:field("recorded") ~= "1" then
    redis.call("HSET", self.base, "recorded", 1)
    local complete = redis.call("ZCARD", self:key("line")) == 0
    self:journal("queue_begun", {
      seed = self:field("seed"), called = number(self:field("called")), complete = complete,
      public = self:field("public") or nil,
    })
  end
  return true
end

-- Journal that a student joined, left or came back with an entry.
function Room:journal_entry(name, student, entry, more)
  if not self:records() then return end
  local event = more or {}
  event.student, event.entry = tonumber(student), entry
  self:journal(name, event)
end
