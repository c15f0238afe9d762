-- Reserves: seats of a section that are reserved for a cohort, perhaps until some time. A seat
-- given under a reserve counts for it until it is dropped. The caller says who belongs to it.

-- Count the seats taken under each reserve of a section.
function Term:reserved(section) return hash(self:key("reserved", section)) end

-- Count the students who are set aside.
function Term:count_aside(section) return redis.call("SCARD", self:key("aside", section)) end

-- The seats that each reserve of a section still reserves, in order, and their sum.
function Term:count_reserved_left(section)
  section.keeps, section.kept, section.unasked = {}, 0, 0
  if #section.reserves == 0 then return end
  local held = self:reserved(section.id)
  for i, reserve in ipairs(section.reserves) do
    local open = reserve["until"] > 0 and reserve["until"] <= self.at
    local used = tonumber(held[tostring(reserve.id)] or 0)
    local seats = open and 0 or math.max(0, reserve.seats - used)
    section.keeps[i] = { id = reserve.id, seats = seats }
    section.kept = section.kept + seats
  end
  -- Waiting students who are not yet checked for a reserved seat.
  if section.kept > 0 and section.taken < section.capacity then
    section.unasked = section.active - self:count_aside(section.id)
  end
end

-- The reserve that gives a student of these a seat: the first with one left.
local function reserve_for(section, reserves)
  for _, each in ipairs(section.keeps) do
    for _, id in ipairs(reserves or {}) do
      if id == each.id and each.seats > 0 then return id end
    end
  end
end

-- The reserves that reserve seats now.
local function active_reserves(section)
  local found = {}
  for _, each in ipairs(section.keeps) do
    if each.seats > 0 then found[#found + 1] = each.id end
  end
  return found
end

-- Whether an unreserved seat is free, apart from the pool.
local function has_unreserved(section) return section.taken + section.kept < section.capacity end

-- A student who cannot have the reserved seats is considered again when another seat comes free.
function Term:set_aside(section, student) redis.call("SADD", self:key("aside", section.id), student) end

function Term:is_aside(section, student)
  return redis.call("SISMEMBER", self:key("aside", section), student) == 1
end

function Term:count_reserved(section, reserve, by)
  if not reserve then return end
  local key = self:key("reserved", section)
  if redis.call("HINCRBY", key, reserve, by) == 0 then redis.call("HDEL", key, reserve) end
end

-- Store when the section's next reserve ends; return whether that has changed.
function Term:plan_reserves(section, reserves)
  local due
  for _, reserve in ipairs(reserves) do
    if reserve["until"] > self.at then due = math.min(due or reserve["until"], reserve["until"]) end
  end
  if due then return redis.call("ZADD", self:key("reserves"), "CH", due, section) == 1 end
  return redis.call("ZREM", self:key("reserves"), section) == 1
end
