#!lua name=fairseat

-- The seat ledger: several files, loaded as one (function_library.py). Each call decides one thing
-- about one term, writes it, journals it and publishes the new counts, all in one atomic step.
-- Nothing here is ever half done.
--
-- KEYS[1] is the term's prefix, "{t:7}". Every other key begins with it, so that a term is one
-- slot of a cluster. ARGV[1] is a JSON object, and so is the reply. Times are ms by the server's
-- clock, credits are hundredths. cjson writes an empty list as {}: the Python client expects that.
--
--   section:<id>     hash: the catalog's fields           seats     hash: section -> counts, JSON
--   roster:<id>      hash: student -> credits:seq:at      windows   hash: window -> JSON
--   queue:<id>       zset: students by band, ticket       vacant    set: sections with a free seat
--                                                                   and a waiting student
--   passed:<id>      hash: student -> reasons, JSON       journal   stream: <seq>-0 -> event, JSON
--                          (skipped students)
--   passes:<id>      hash: student -> skips that count    next      when a window turns next
--   marked           set: sections with skipped students  pools     hash: pool -> capacity:version
--   pool:<id>        set: its sections
--   drops:<student>  hash: day -> how many                seq       number of the last event
--   emptying         set: canceled sections that still have students
--   fence            why nothing may be decided            deadlines  hash: deadline -> ms, its first
--                                                          moment that is too late; those passed
--   in_round         hash: section -> allocation round whose seats are still being given out
--   round_ends       hash: allocation round -> ms, its end, until its sections are held back
--   deadlines_seen   the newest version of the deadlines that was sent, also if they were the same
--   student:<id>     hash: e:<section> -> credits         woken     hash: workers already enqueued
--                          c:<section> -> its corequisites, JSON
--                          w:<section> -> ticket:credits:at, then :section to drop for it,
--                                         then :band, unless it is the first
--   plans:<student>  how often the student's plan has changed
--   request:<student>:<idempotency key>  request (SHA-1) and stored answer, JSON, for a day
--   replicated       in a cluster: what a client writes to wait until replicas have what it read
--   rate:<student>  when the requests counted against the rate limit are earned back (ms)
--   tally:<ten seconds>      hash: window (or 0) and outcome -> how often, for a while

local DAY = 24 * 60 * 60 * 1000
local SLOT, TALLIED = 10000, 20 * 60 * 1000 -- ms
local ENDING = 15 * 60 * 1000 -- ms: how long the end of a round holds back its term at most
-- The constants of LUA_CONSTANTS in types.py, such as FIELDS and BAND, stand before all this.

local function hash(key)
  local flat, fields = redis.call("HGETALL", key), {}
  for i = 1, #flat, 2 do fields[flat[i]] = flat[i + 1] end
  return fields
end

-- The keys of a table as sorted numbers, so that results do not depend on hashing.
local function ids(fields)
  local found = {}
  for field in pairs(fields) do found[#found + 1] = tonumber(field) end
  table.sort(found)
  return found
end

local function extend(list, more)
  for _, each in ipairs(more) do list[#list + 1] = each end
  return list
end

local function with(fields, more)
  for field, value in pairs(more or {}) do fields[field] = value end
  return fields
end

local function add_reason(reasons, code, facts)
  reasons[#reasons + 1] = { code = code, facts = facts or {} }
end

-- Times and corequisites ------------------------------------------------------------------------

-- Two meetings {days, start, end, first_day, last_day} conflict on a day that both really have:
-- seven of the dates that they share show every weekday that occurs.
local function meetings_clash(a, b)
  if a[2] >= b[3] or b[2] >= a[3] then return false end
  local days = bit.band(a[1], b[1])
  local first, last = math.max(a[4], b[4]), math.min(a[5], b[5])
  for day = first, math.min(last, first + 6) do
    local weekday = (day + 3) % 7 -- day 0, 1970-01-01, was a Thursday
    if bit.band(days, bit.lshift(1, weekday)) ~= 0 then return true end
  end
  return false
end

local function clash(times, others)
  for _, a in ipairs(times) do
    for _, b in ipairs(others) do
      if meetings_clash(a, b) then return true end
    end
  end
  return false
end

-- The courses that a tree {course} | {all} | {any} still requires; none once it is met.
local function lacking(tree, courses)
  if tree.course then return courses[tree.course] and {} or { tree.course } end
  local lacks = {}
  for _, branch in ipairs(tree.all or tree.any) do
    local more = lacking(branch, courses)
    if tree.any and #more == 0 then return {} end
    extend(lacks, more)
  end
  return lacks
end

-- Whether a tree names a course.
local function names(tree, course)
  if not tree or tree.course then return tree ~= nil and tree.course == course end
  for _, branch in ipairs(tree.all or tree.any) do
    if names(branch, course) then return true end
  end
  return false
end

-- A term: its state
-- --------------------------------------------------------------------------------

local Term = {}
Term.__index = Term

function Term.begin(cause, keys, args)
  local time = redis.call("TIME")
  local at = time[1] * 1000 + math.floor(time[2] / 1000)
  local term = { cause = cause, prefix = keys[1], ask = cjson.decode(args[1]), at = at, wake = {}, turned = {}, known = {} }
  return setmetatable(term, Term)
end

function Term:key(kind, id)
  if id then return self.prefix .. ":" .. kind .. ":" .. id end
  return self.prefix .. ":" .. kind
end

-- The field of a deadline that has passed.
local function passed_field(name) return name .. ":passed" end

-- A deadline of the term: its first moment that is too late, or nil. They are read once.
function Term:deadline(name)
  self.deadlines = self.deadlines or hash(self:key("deadlines"))
  return tonumber(self.deadlines[name])
end

-- One that has passed stays so, even if the clock of another server is behind.
function Term:is_past(name)
  local ends = self:deadline(name)
  return ends ~= nil and (self.at >= ends or self.deadlines[passed_field(name)] ~= nil)
end

-- The allocation round that gives out the seats of a section, or nil. Only that round may take them.
function Term:round_of(section)
  local round = tonumber(redis.call("HGET", self:key("in_round"), section))
  if round then return round ~= self.round and round or nil end
  return not self.round and self:ending_round() or nil
end

-- A round that has ended, but whose sections are not held back yet, as it is not known which they
-- are. Until then the round holds back the whole term, but not for long if something goes wrong.
function Term:ending_round()
  if self.ending == nil then
    self.ending = false
    for round, ends in pairs(hash(self:key("round_ends"))) do
      if self.at >= tonumber(ends) and self.at < ends + ENDING then self.ending = tonumber(round) end
    end
  end
  return self.ending
end

-- Whether this call gives out the seats of a section for its allocation round.
function Term:gives_out(section)
  return self.round ~= nil and tonumber(redis.call("HGET", self:key("in_round"), section)) == self.round
end

-- Count the students in a section and on its waitlist. A trial of admin adjustments overrides this.
function Term:count_students(section)
  section.taken = section.prior + redis.call("HLEN", self:key("roster", section.id))
  section.waiting = redis.call("ZCARD", self:key("queue", section.id))
  -- Skip the lookup of skipped students when the waitlist is empty.
  section.skipped = section.waiting > 0 and redis.call("HLEN", self:key("passed", section.id)) or 0
end

-- The counts of a section, without its pool.
function Term:count_alone(section)
  self:count_students(section)
  section.active = section.waiting - section.skipped
  self:count_reserved_left(section)
end

function Term:count(section)
  self:count_alone(section)
  section.shared = section.pool > 0 and self:pool(section.pool, section) or nil
  local shared = section.shared
  section.free = section.taken < section.capacity and (not shared or shared.taken < shared.capacity)
  return section
end

-- A section without its counts.
function Term:facts(id)
  local values = redis.call("HMGET", self:key("section", id), "pool", "reserves", unpack(FIELDS))
  if not values[3] then return nil end
  local pool, reserves = values[1], values[2]
  local section = { id = id, pool = tonumber(pool or 0), reserves = {} }
  if reserves and #reserves > 2 then section.reserves = cjson.decode(reserves) end
  for i, field in ipairs(FIELDS) do section[field] = tonumber(values[i + 2]) or values[i + 2] end
  section.times = cjson.decode(section.times)
  return section
end

function Term:section(id)
  local section = self:facts(id)
  return section and self:count(section)
end

-- A student's own selections: held[section] = credits, needs[section] = its corequisites,
-- waiting[section] = waitlist position. They are read once between two changes. Do not modify them.
function Term:selections(student)
  local known = self.known[tonumber(student)]
  if known then return known end
  local mine = { student = student, held = {}, needs = {}, waiting = {} }
  for field, value in pairs(hash(self:key("student", student))) do
    local kind, section = field:sub(1, 1), tonumber(field:sub(3))
    if kind == "e" then
      mine.held[section] = tonumber(value)
    elseif kind == "c" then
      mine.needs[section] = cjson.decode(value)
    else
      local ticket, credits, at, swap_out, band = value:match("(%d+):(%d+):(%d+):?(%d*):?(%d*)")
      mine.waiting[section] = {
        ticket = tonumber(ticket), credits = tonumber(credits), at = tonumber(at), swap_out = tonumber(swap_out),
        band = tonumber(band) or 1,
      }
    end
  end
  self.known[tonumber(student)] = mine
  return mine
end

-- Change a student's own selections.
function Term:change_own(student, command, ...)
  self.known[tonumber(student)] = nil
  redis.call(command, self:key("student", student), ...)
end

-- The same without dropped seats and waitlist positions.
local function without(mine, gone)
  local rest = { student = mine.student, held = {}, needs = mine.needs, waiting = {} }
  for _, kind in ipairs({ "held", "waiting" }) do
    for id, value in pairs(mine[kind]) do
      if not gone[id] then rest[kind][id] = value end
    end
  end
  return rest
end

function Term:courses(held)
  local courses = {}
  for id in pairs(held) do
    courses[tonumber(redis.call("HGET", self:key("section", id), "course"))] = true
  end
  return courses
end

function Term:position(section, student)
  return redis.call("ZRANK", self:key("queue", section), student) + 1
end

function Term:is_skipped(section, student)
  return redis.call("HEXISTS", self:key("passed", section), student) == 1
end

-- The first n waiting students who are not skipped; with `unasked`, not set aside either. A skip of
-- the student `retried` does not count.
function Term:actives(section, n, unasked, retried)
  local found, from, page = {}, 0, nil
  repeat
    page = redis.call("ZRANGE", self:key("queue", section), from, from + n - 1)
    for _, student in ipairs(page) do
      local skipped = tonumber(student) ~= tonumber(retried) and self:is_skipped(section, student)
      skipped = skipped or unasked and self:is_aside(section, student)
      if not skipped and #found < n then found[#found + 1] = tonumber(student) end
    end
    from = from + n
  until #page < n or #found == n
  return found
end
