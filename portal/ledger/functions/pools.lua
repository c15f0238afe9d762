-- Pools: sections that share seats, such as a class listed under several courses.

-- A section's counts as last published.
function Term:counts(id)
  local json = redis.call("HGET", self:key("seats"), id)
  return json and cjson.decode(json) or nil
end

-- A pool with its sections as last published, but `section` as it is now.
function Term:pool(id, section)
  local capacity = redis.call("HGET", self:key("pools"), id)
  if not capacity then return { capacity = 0, taken = 0, sections = {} } end
  local pool = { capacity = tonumber(capacity:match("%d+")), taken = 0, sections = {} }
  local members = redis.call("SMEMBERS", self:key("pool", id))
  for i, member in ipairs(members) do members[i] = tonumber(member) end
  table.sort(members)
  for _, member in ipairs(members) do
    if section and member == section.id then
      pool.taken = pool.taken + section.taken
    else
      local counts = self:counts(member)
      pool.taken = pool.taken + counts[TAKEN]
      extend(pool.sections, { { id = member, counts = counts } })
    end
  end
  return pool
end

-- Whether a waiting student could have a seat of a published section, apart from its pool, once
-- `left` seats are dropped there.
local function wanted(counts, left)
  local capacity, taken, waiting, _, status, _, skipped, kept, unasked = unpack(counts)
  local open = taken - left + (kept or 0) < capacity
  return status == "OPEN" and (open and waiting > skipped or (unasked or 0) > 0)
end

-- Whether a published section has a free seat and a waiting student who may have it.
local function vacant(counts)
  local shared, used = counts[POOL_CAPACITY], counts[POOL_TAKEN]
  return wanted(counts, 0) and (not shared or used < shared)
end

-- Whether a student on no waitlist could have a seat, once the one in section `gone` is dropped and
-- `more` seats of the pool have gone to the same student, who belongs to these reserves. A round has
-- left seats for those who wait since before it: for its own seats they are not asked again.
function Term:claimable(section, reserves, gone, more)
  if section.taken >= section.capacity then return false end
  local for_round = self:gives_out(section.id)
  if reserve_for(section, reserves) then
    if section.unasked > 0 and not for_round then return false end
  elseif section.active > 0 and not for_round or not has_unreserved(section) then
    return false
  end
  if not section.shared then return true end
  local taken = section.shared.taken + (more or 0)
  for _, each in ipairs(section.shared.sections) do
    local counts, left = each.counts, each.id == gone and 1 or 0
    taken = taken - left
    -- Students on any of the waitlists come before a new student.
    if not for_round and wanted(counts, left) then return false end
  end
  return taken < section.shared.capacity
end

-- Whether this student is first for the seat by band and time, on all waitlists of the pool.
function Term:comes_first(section, student)
  if not section.shared then return true end
  local place = tonumber(redis.call("ZSCORE", self:key("queue", section.id), student))
  for _, each in ipairs(section.shared.sections) do
    local counts = each.counts
    local capacity, taken, kept = counts[CAPACITY], counts[TAKEN], counts[KEPT] or 0
    local head = vacant(counts) and self:actives(each.id, 1, taken + kept >= capacity)[1]
    if head and tonumber(redis.call("ZSCORE", self:key("queue", each.id), head)) < place then return false end
  end
  return true
end

-- Put a section into this pool and no other; return the pool that it left. A pool's capacity is
-- that of its newest version, whichever section brings it.
function Term:join_pool(section, pool)
  local before = tonumber(redis.call("HGET", self:key("section", section), "pool") or 0)
  local left = before > 0 and before ~= (pool and pool.id or 0) and before or nil
  if left then
    redis.call("SREM", self:key("pool", left), section)
    if redis.call("EXISTS", self:key("pool", left)) == 0 then redis.call("HDEL", self:key("pools"), left) end
  end
  if pool then
    local known = redis.call("HGET", self:key("pools"), pool.id)
    if not known or tonumber(known:match(":(%d+)")) < pool.version then
      redis.call("HSET", self:key("pools"), pool.id, pool.capacity .. ":" .. pool.version)
    end
    redis.call("SADD", self:key("pool", pool.id), section)
    self:hold_with_pool(section, pool.id)
  end
  return left
end

-- Hold back a section that joins a pool whose seats an allocation round gives out.
function Term:hold_with_pool(section, pool)
  if redis.call("EXISTS", self:key("in_round")) == 0 then return end
  for _, member in ipairs(redis.call("SMEMBERS", self:key("pool", pool))) do
    local round = redis.call("HGET", self:key("in_round"), member)
    if round and redis.call("HSETNX", self:key("in_round"), section, round) == 1 then
      redis.call("SREM", self:key("vacant"), section)
      local event = { aggregate = "rounds", round = tonumber(round), sections = { section } }
      self:journal(self:next_seq(), "round_held", event)
    end
  end
end
