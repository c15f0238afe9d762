#!lua name=fairseat

-- The seat ledger. One call decides one thing about one term, writes it, journals it and
-- publishes the new counts, all in the same atomic step: nothing here is ever half done.
--
-- KEYS[1] is the term's prefix, "{t:7}"; every other key begins with it, so that a term is one
-- slot of a cluster. ARGV[1] is a JSON object, and so is the reply. Times are ms by the server's
-- clock, credits are hundredths. cjson writes an empty list as {}: the Python face expects that.
--
--   section:<id>     hash: what the catalogue says        seats     hash: section -> counts, JSON
--   roster:<id>      hash: student -> credits:seq:at      windows   hash: window -> JSON
--   queue:<id>       zset: students by ticket             vacant    set: a free seat and a waiter
--   passed:<id>      hash: student -> reasons, JSON       journal   stream: <seq>-0 -> event, JSON
--   marked           set: sections with passed-over       next      when a window turns next
--   drops:<student>  hash: day -> how many                seq       number of the last event
--   student:<id>     hash: e:<section> -> credits         woken     hash: workers called
--                          c:<section> -> its corequisites, JSON
--                          w:<section> -> ticket:credits:at, then :section to be given up for it
--   request:<student>:<key>  what was answered, for a day

local DAY = 24 * 60 * 60 * 1000
local FIELDS = { "status", "capacity", "waitlist", "prior", "course", "credits_min", "credits_max", "times" }

local function hash(key)
  local flat, fields = redis.call("HGETALL", key), {}
  for i = 1, #flat, 2 do fields[flat[i]] = flat[i + 1] end
  return fields
end

-- The keys of a table as numbers, in order, so that what is said does not depend on hashing.
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

local function object(reasons, code, facts)
  reasons[#reasons + 1] = { code = code, facts = facts or {} }
end

-- Times and corequisites ------------------------------------------------------------------------

-- Two meetings {days, start, end, first_day, last_day} clash on a day that both really have:
-- seven days of the dates that they share show every weekday that occurs there.
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

-- The courses that a tree {course} | {all} | {any} still asks for; none once it is fulfilled.
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

-- A term: what is ---------------------------------------------------------------------------------

local Term = {}
Term.__index = Term

function Term.begin(cause, keys, args)
  local time = redis.call("TIME")
  local at = time[1] * 1000 + math.floor(time[2] / 1000)
  local term = { cause = cause, prefix = keys[1], ask = cjson.decode(args[1]), at = at, wake = {}, turned = {} }
  return setmetatable(term, Term)
end

function Term:key(kind, id)
  return self.prefix .. ":" .. kind .. (id and ":" .. id or "")
end

function Term:count(section)
  section.taken = section.prior + redis.call("HLEN", self:key("roster", section.id))
  section.waiting = redis.call("ZCARD", self:key("queue", section.id))
  section.passed = redis.call("HLEN", self:key("passed", section.id))
  section.active = section.waiting - section.passed
  section.free = section.taken < section.capacity
  return section
end

function Term:section(id)
  local values = redis.call("HMGET", self:key("section", id), unpack(FIELDS))
  if not values[1] then return nil end
  local section = { id = id }
  for i, field in ipairs(FIELDS) do section[field] = tonumber(values[i]) or values[i] end
  section.times = cjson.decode(section.times)
  return self:count(section)
end

-- A student's own few selections: held[section] = credits, needs[section] = its corequisites,
-- waiting[section] = place.
function Term:selections(student)
  local mine = { held = {}, needs = {}, waiting = {} }
  for field, value in pairs(hash(self:key("student", student))) do
    local kind, section = field:sub(1, 1), tonumber(field:sub(3))
    if kind == "e" then
      mine.held[section] = tonumber(value)
    elseif kind == "c" then
      mine.needs[section] = cjson.decode(value)
    else
      local ticket, credits, at, instead = value:match("(%d+):(%d+):(%d+):?(%d*)")
      mine.waiting[section] = {
        ticket = tonumber(ticket), credits = tonumber(credits), at = tonumber(at), instead = tonumber(instead),
      }
    end
  end
  return mine
end

-- The same without the seats that are given up.
local function without(mine, gone)
  local rest = { held = {}, needs = mine.needs, waiting = mine.waiting }
  for id, credits in pairs(mine.held) do
    if not gone[id] then rest.held[id] = credits end
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

-- The first n waiters who are not passed over.
function Term:actives(section, n)
  local found, from, page = {}, 0, nil
  repeat
    page = redis.call("ZRANGE", self:key("queue", section), from, from + n - 1)
    for _, student in ipairs(page) do
      local passed = redis.call("HEXISTS", self:key("passed", section), student) == 1
      if not passed and #found < n then found[#found + 1] = tonumber(student) end
    end
    from = from + n
  until #page < n or #found == n
  return found
end

-- A term: why not ---------------------------------------------------------------------------------

-- Objects unless one of the windows is open, with the most hopeful thing that is true of them.
function Term:object_window(reasons, windows)
  local opens, closed
  local found = #windows > 0 and redis.call("HMGET", self:key("windows"), unpack(windows)) or {}
  for _, json in ipairs(found) do
    local window = json and cjson.decode(json)
    if window and window.state ~= "canceled" then
      if self.at < window.opens then
        opens = math.min(opens or window.opens, window.opens)
      elseif self.at < window.closes and window.state == "scheduled" then
        return
      else
        closed = math.max(closed or window.closes, window.closes)
      end
    end
  end
  if opens then return object(reasons, "window_before", { opens = opens }) end
  if closed then return object(reasons, "window_ended", { closes = closed }) end
  object(reasons, "window_unscheduled")
end

-- What a student's own seats have against another one; `along` are courses had with it.
function Term:object_selections(reasons, section, mine, terms, along)
  local courses, held, clashes = with({}, along), 0, {}
  for _, id in ipairs(ids(mine.held)) do
    local course, times = unpack(redis.call("HMGET", self:key("section", id), "course", "times"))
    course = tonumber(course)
    courses[course], held = true, held + mine.held[id]
    if course == section.course then object(reasons, "same_course", { section = id }) end
    if clash(section.times, cjson.decode(times)) then object(clashes, "time_conflict", { section = id }) end
  end
  extend(reasons, clashes)
  if terms.credits < section.credits_min or terms.credits > section.credits_max then
    object(reasons, "credit_range", { min = section.credits_min, max = section.credits_max })
  end
  if held + terms.credits > terms.limit then
    object(reasons, "credit_limit", { held = held, adds = terms.credits, limit = terms.limit })
  end
  local missing = terms.corequisites and lacking(terms.corequisites, courses) or {}
  if #missing > 0 then object(reasons, "corequisite", { missing = missing }) end
end

local function permitted(reasons, waived)
  if not waived then return reasons end
  local left, passes = {}, {}
  for _, code in ipairs(waived) do passes[code] = true end
  for _, reason in ipairs(reasons) do
    if not passes[reason.code] then left[#left + 1] = reason end
  end
  return left
end

-- Every reason why a student may not have this section, seats apart. `terms` are those of the
-- wish or of the candidate: credits, limit, windows, corequisites, what is waived, and the
-- caller's own rules.
function Term:objections(section, mine, terms, along)
  local reasons = {}
  self:object_window(reasons, terms.windows or {})
  if not section then
    object(reasons, "section_unknown")
  else
    if section.status ~= "OPEN" then object(reasons, "section_" .. section.status:lower()) end
    self:object_selections(reasons, section, mine, terms, along)
  end
  extend(reasons, terms.rules or {})
  return permitted(reasons, terms.waived)
end

-- Objects where a seat that is kept would lose a corequisite that it has had until now.
function Term:object_loss(reasons, before, after)
  local had, has
  for _, id in ipairs(ids(after.held)) do
    local needs = before.needs[id]
    if needs then
      had, has = had or self:courses(before.held), has or self:courses(after.held)
      local missing = #lacking(needs, had) == 0 and lacking(needs, has) or {}
      if #missing > 0 then object(reasons, "needed_by", { section = id, missing = missing }) end
    end
  end
end

-- A term: what happens ----------------------------------------------------------------------------

function Term:next_seq() return redis.call("INCR", self:key("seq")) end

-- Only the first to need a worker calls it, until the worker clears the mark.
function Term:call(worker)
  local first = redis.call("HSETNX", self:key("woken"), worker, 1) == 1
  if first then self.wake[#self.wake + 1] = worker end
end

function Term:journal(seq, name, event, unheard)
  event.seq, event.at, event.name, event.version = seq, self.at, name, 1
  event.actor, event.correlation = self.ask.actor or "system", self.ask.correlation or ""
  event.cause, event.request = self.cause, self.ask.request
  -- The one list of an event that may be empty. Quotes in a text are escaped, so this is no text.
  local json = cjson.encode(event):gsub('"times":{}', '"times":[]', 1)
  redis.call("XADD", self:key("journal"), seq .. "-0", "event", json)
  if not unheard then redis.call("PUBLISH", self:key("live"), json) end
  self:call("record")
end

-- A free seat belongs to the list while anyone on it has not been passed over.
function Term:mark_vacancy(section)
  if section.status == "OPEN" and section.free and section.active > 0 then
    redis.call("SADD", self:key("vacant"), section.id)
    self:call("promote")
  else
    redis.call("SREM", self:key("vacant"), section.id)
  end
end

local function seats_of(counts)
  local capacity, taken, waiting, waitlist, status, _, passed = unpack(counts)
  return {
    capacity = capacity, taken = taken, waiting = waiting,
    waitlist_capacity = waitlist, status = status, passed = passed,
  }
end

-- Count a section anew and journal what happened to it.
function Term:tell(seq, name, section, event)
  self:count(section)
  section.counts = {
    section.capacity, section.taken, section.waiting, section.waitlist, section.status, seq, section.passed,
  }
  redis.call("HSET", self:key("seats"), section.id, cjson.encode(section.counts))
  event.aggregate, event.section = "section:" .. section.id, section.id
  event.seats = seats_of(section.counts)
  self:journal(seq, name, event)
  self:mark_vacancy(section)
end

function Term:seat(name, section, student, wish, more)
  local seq, own = self:next_seq(), self:key("student", student)
  redis.call("HSET", self:key("roster", section.id), student, table.concat({ wish.credits, seq, self.at }, ":"))
  redis.call("HSET", own, "e:" .. section.id, wish.credits)
  if wish.corequisites then redis.call("HSET", own, "c:" .. section.id, cjson.encode(wish.corequisites)) end
  local event =
    { student = student, credits = wish.credits, registration = seq, corequisites = wish.corequisites }
  self.decided = true
  self:tell(seq, name, section, with(event, more))
  self:reprieve_everywhere(student)
  return seq
end

-- Give a held seat up; everyone on its list is asked again, as it is another seat.
function Term:release(id, student, more)
  local section, seq, own = self:section(id), self:next_seq(), self:key("student", student)
  local entry = redis.call("HGET", self:key("roster", id), student)
  local credits, registration = entry:match("(%d+):(%d+)")
  local event = { student = student, credits = tonumber(credits), registration = tonumber(registration) }
  redis.call("HDEL", self:key("roster", id), student)
  redis.call("HDEL", own, "e:" .. id, "c:" .. id)
  redis.call("DEL", self:key("passed", id))
  self.decided = true
  self:tell(seq, "dropped", section, with(event, more))
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
  redis.call("HDEL", self:key("student", student), "w:" .. section.id)
  self.decided = true
end

-- Answers -----------------------------------------------------------------------------------------

local function answer(term, outcome, section, fields)
  fields.outcome, fields.at, fields.section, fields.seats = outcome, term.at, section.id, section.counts
  return fields
end

-- A refusal with its receipt: nobody's counts move, so no page is told.
local function refuse(term, act, id, reasons, more)
  local json, seq = redis.call("HGET", term:key("seats"), id), term:next_seq()
  local counts = json and cjson.decode(json) or nil
  term:journal(seq, "refused", with({
    aggregate = "section:" .. id, section = id, student = term.ask.student,
    act = act, reasons = reasons, seats = counts and seats_of(counts),
  }, more), true)
  return answer(term, "refused", { id = id, counts = counts }, { seq = seq, reasons = reasons })
end

-- What changed something is kept under the caller's key and said again word for word. A refusal
-- is not: the same form may be sent again when its reasons are gone.
local function once(content, decide)
  return function(term)
    local ask = term.ask
    if not ask.request or ask.request == "" then return decide(term) end
    local key = term:key("request", ask.student .. ":" .. ask.request)
    local wanted = cjson.encode({ term.cause, content(ask) })
    local stored = redis.call("GET", key)
    if stored then
      stored = cjson.decode(stored)
      stored.answer.replayed = true
      return stored.content == wanted and stored.answer or { error = "key_reused" }
    end
    local reply = decide(term)
    if term.decided then
      reply.wake = term.wake
      redis.call("SET", key, cjson.encode({ content = wanted, answer = reply }), "PX", DAY)
    end
    return reply
  end
end

-- Wishes ------------------------------------------------------------------------------------------

-- What was wished for, apart from what the caller knows of it.
local function lines_of(ask)
  local lines = {}
  for i, line in ipairs(ask.lines) do
    lines[i] = { line.wait or false, line.instead or 0 }
    for _, option in ipairs(line.options) do
      for j, wish in ipairs(option) do extend(lines[i], { j, wish.section, wish.credits }) end
    end
  end
  return lines
end

-- An option's parts, each with its section, what stands in its way, and whether a seat is free.
local function weigh(term, mine, option, instead)
  local rest, parts, along = without(mine, { [instead or 0] = true }), {}, {}
  for i, wish in ipairs(option) do
    parts[i] = { wish = wish, section = term:section(wish.section), reasons = {} }
    if parts[i].section then along[parts[i].section.course] = true end
  end
  for _, part in ipairs(parts) do
    local wish, section = part.wish, part.section
    wish.windows, wish.limit = term.ask.windows, term.ask.limit
    if mine.held[wish.section] then
      part.had = true
    elseif mine.waiting[wish.section] then
      part.waits = true
      object(part.reasons, "already_waiting", { position = term:position(wish.section, term.ask.student) })
    else
      part.reasons = term:objections(section, rest, wish, along)
      part.seat = section and section.free and section.active == 0
      if section then rest.held[wish.section] = wish.credits end
    end
  end
  local first = parts[1].reasons
  if instead and not mine.held[instead] then object(first, "not_enrolled", { section = instead }) end
  if instead and not parts[1].had and not parts[1].waits then term:object_loss(first, mine, rest) end
  return parts
end

-- "seats" if every part can be had, "wait" if those that are full have room in line, or nothing.
local function chance(parts)
  local sure = 0
  for _, part in ipairs(parts) do
    if #part.reasons > 0 then return nil end
    if part.had or part.seat then sure = sure + 1
    elseif part.section.waiting >= part.section.waitlist then return nil end
  end
  if sure == #parts then return "seats" end
  -- Of sections that are to be had together, those in line must follow one that is had.
  return (#parts == 1 or sure > 0) and "wait" or nil
end

local function join(term, section, wish, instead)
  local ask, seq = term.ask, term:next_seq()
  local place = table.concat({ seq, wish.credits, term.at, instead }, ":")
  redis.call("ZADD", term:key("queue", section.id), seq, ask.student)
  redis.call("HSET", term:key("student", ask.student), "w:" .. section.id, place)
  local position = term:position(section.id, ask.student)
  local event =
    { student = ask.student, credits = wish.credits, ticket = seq, position = position, instead = instead }
  term.decided = true
  term:tell(seq, "waitlisted", section, event)
  return answer(term, "waitlisted", section, { seq = seq, position = position, given_up = instead })
end

-- Take an option; the seat that goes for it goes with the first seat that comes.
local function take(term, parts, line, rank)
  local student, answers, given_up, outcome = term.ask.student, {}, nil, "enrolled"
  local more = { rank = rank > 1 and rank or nil }
  for _, part in ipairs(parts) do
    if part.seat and line.instead and not given_up then
      given_up, more.instead = line.instead, line.instead
      term:release(given_up, student, { swap = part.section.id })
    end
  end
  for i, part in ipairs(parts) do
    if part.had then
      answers[i] = answer(term, "refused", { id = part.wish.section }, { reasons = { { code = "already_enrolled", facts = {} } } })
    elseif part.seat then
      local seq = term:seat("enrolled", part.section, student, part.wish, more)
      answers[i] = answer(term, "enrolled", part.section, { seq = seq, registration = seq, given_up = given_up })
    else
      outcome = "waitlisted"
      answers[i] = join(term, part.section, part.wish, not given_up and line.instead or nil)
    end
  end
  return { outcome = outcome, rank = rank, taken = answers }
end

-- Why an option could not be had, part by part.
local function turn_down(term, parts, line)
  local culprit, answers = nil, {}
  for _, part in ipairs(parts) do
    local section, reasons = part.section, part.reasons
    if part.had then
      object(reasons, "already_enrolled")
    elseif section and not part.seat and not part.waits then
      local list = { waiting = section.waiting, waitlist_capacity = section.waitlist }
      local room = section.waiting < section.waitlist
      object(reasons, line.wait and not room and "waitlist_full" or "full", list)
    end
    if #reasons > 0 and not (culprit or part.had) then culprit = part.wish.section end
  end
  for i, part in ipairs(parts) do
    if #part.reasons == 0 then object(part.reasons, "together", { section = culprit }) end
    answers[i] = refuse(term, "claim", part.wish.section, part.reasons, { instead = line.instead })
    -- Whoever asks again may have cleared the way.
    if part.waits then term:reprieve(part.wish.section, term.ask.student) end
  end
  return answers
end

local function has_all(mine, option)
  for _, wish in ipairs(option) do
    if not mine.held[wish.section] then return false end
  end
  return true
end

-- One wish: the first of its options that can be had, else the first that can be waited for. It
-- is fulfilled where the student has one of them, whatever its rank.
local function decide(term, line)
  local mine, weighed, chosen = term:selections(term.ask.student), {}, nil
  for _, option in ipairs(line.options) do
    if has_all(mine, option) then
      local parts = weigh(term, mine, option)
      return { outcome = "refused", rank = 0, refused = { turn_down(term, parts, line) } }
    end
  end
  for rank, option in ipairs(line.options) do
    weighed[rank] = weigh(term, mine, option, line.instead)
    if chance(weighed[rank]) == "seats" then chosen = rank break end
  end
  for rank, parts in ipairs(line.wait and not chosen and weighed or {}) do
    if chance(parts) then chosen = rank break end
  end
  local refused = {}
  for rank, parts in ipairs(weighed) do
    if rank ~= chosen then refused[#refused + 1] = turn_down(term, parts, line) end
  end
  local said = chosen and take(term, weighed[chosen], line, chosen) or { outcome = "refused", rank = 0 }
  said.refused = refused
  return said
end

local function submit(term)
  local lines = {}
  for i, line in ipairs(term.ask.lines) do lines[i] = decide(term, line) end
  return { at = term.at, lines = lines }
end

-- Selections --------------------------------------------------------------------------------------

-- The name of the day that it is, and when the next one begins.
local function today(days, at)
  local name, ends = days[1][2], days[1][1] + DAY
  for i, day in ipairs(days) do
    if day[1] <= at then name, ends = day[2], days[i + 1] and days[i + 1][1] or day[1] + DAY end
  end
  return name, ends
end

-- Seats given up together count as one drop of the day.
local function drop(term)
  local ask, reasons, gone = term.ask, {}, {}
  local leaving = extend({ ask.section }, ask.along or {})
  local mine, drops = term:selections(ask.student), term:key("drops", ask.student)
  local day, resets = today(ask.days, term.at)
  term:object_window(reasons, ask.windows)
  for i, id in ipairs(leaving) do
    gone[id] = true
    if not mine.held[id] then object(reasons, "not_enrolled", i > 1 and { section = id } or nil) end
  end
  if tonumber(redis.call("HGET", drops, day) or 0) >= ask.drop_limit then
    object(reasons, "drop_limit", { limit = ask.drop_limit, resets = resets })
  end
  term:object_loss(reasons, mine, without(mine, gone))
  if #reasons > 0 then return refuse(term, "drop", ask.section, reasons) end

  redis.call("HINCRBY", drops, day, 1)
  local section, seq, registration = term:release(ask.section, ask.student, { day = day })
  for _, id in ipairs(ask.along or {}) do term:release(id, ask.student, { along = ask.section }) end
  return answer(term, "dropped", section, { seq = seq, registration = registration })
end

local function leave(term)
  local ask, reasons = term.ask, {}
  if not redis.call("ZSCORE", term:key("queue", ask.section), ask.student) then
    object(reasons, "not_waiting")
    return refuse(term, "leave", ask.section, reasons)
  end
  local section, seq = term:section(ask.section), term:next_seq()
  term:unqueue(section, ask.student)
  term:tell(seq, "left", section, { student = ask.student })
  return answer(term, "left", section, { seq = seq })
end

local function standing(term)
  local student, enrolled, waiting = term.ask.student, {}, {}
  local mine = term:selections(student)
  for _, id in ipairs(ids(mine.held)) do
    local entry = redis.call("HGET", term:key("roster", id), student)
    local credits, registration, at = entry:match("(%d+):(%d+):(%d+)")
    extend(enrolled, { { id, tonumber(credits), tonumber(registration), tonumber(at) } })
  end
  for _, id in ipairs(ids(mine.waiting)) do
    local place, size = mine.waiting[id], redis.call("ZCARD", term:key("queue", id))
    local passed = redis.call("HGET", term:key("passed", id), student)
    local reasons, instead = passed and cjson.decode(passed) or {}, place.instead or 0
    local position = term:position(id, student)
    extend(waiting, { { id, place.credits, place.ticket, place.at, position, size, reasons, instead } })
  end
  return { enrolled = enrolled, waiting = waiting }
end

-- Waitlists ---------------------------------------------------------------------------------------

local function head(term) return { students = term:actives(term.ask.section, term.ask.n) } end

-- Give a waiter a seat, or note why not; true if it was given. In a swap the old seat goes with it.
local function consider(term, section, candidate)
  local student, mine = candidate.student, term:selections(candidate.student)
  local place = mine.waiting[section.id]
  local instead = mine.held[place.instead or 0] and place.instead
  local rest = without(mine, { [instead or 0] = true })
  candidate.credits = place.credits -- as chosen when joining
  local reasons = term:objections(section, rest, candidate)
  rest.held[section.id] = place.credits
  if instead then term:object_loss(reasons, mine, rest) end
  if #reasons == 0 then
    term:unqueue(section, student)
    if instead then term:release(instead, student, { swap = section.id }) end
    term:seat("promoted", section, student, candidate, { instead = instead or nil })
    return true
  end
  redis.call("HSET", term:key("passed", section.id), student, cjson.encode(reasons))
  redis.call("SADD", term:key("marked"), section.id)
  term:tell(term:next_seq(), "passed_over", section, { student = student, reasons = reasons })
  return false
end

local function promote(term)
  local ask, section = term.ask, term:section(term.ask.section)
  -- The seats of a section that is not open are nobody's, so nobody is passed over for one.
  if not section or section.status ~= "OPEN" then return { more = false } end
  local candidates, promoted, passed = {}, {}, {}
  for _, candidate in ipairs(ask.candidates) do candidates[candidate.student] = candidate end
  for _, student in ipairs(term:actives(section.id, #ask.candidates + 1)) do
    if not section.free or not candidates[student] then break end
    local given = consider(term, section, candidates[student])
    extend(given and promoted or passed, { student })
  end
  term:mark_vacancy(section)
  return { promoted = promoted, passed = passed, more = section.free and section.active > 0 }
end

local function reconsider(term)
  return { seq = term:reprieve(term.ask.section) }
end

-- A ledger that knows less than the record has lost something: it must not decide on that ground.
local function behind(term)
  return (tonumber(redis.call("GET", term:key("seq"))) or 0) < (term.ask.recorded or 0)
end

-- Sections ----------------------------------------------------------------------------------------

local function put_section(term)
  local ask, event = term.ask, {}
  local key = term:key("section", ask.section)
  if behind(term) then return { error = "behind" } end
  if tonumber(redis.call("HGET", key, "version") or -1) >= ask.version then return {} end
  local facts = { "version", ask.version }
  for _, field in ipairs(FIELDS) do
    event[field] = ask[field]
    extend(facts, { field, field == "times" and cjson.encode(ask.times) or ask[field] })
  end
  redis.call("HSET", key, unpack(facts))
  redis.call("DEL", term:key("passed", ask.section)) -- other terms, so all are asked again
  event.section_version = ask.version
  local seq = term:next_seq()
  term:tell(seq, "section_set", term:section(ask.section), event)
  return { seq = seq }
end

-- Windows -----------------------------------------------------------------------------------------

local function window_of(term, id)
  local json = redis.call("HGET", term:key("windows"), id)
  return json and cjson.decode(json)
end

-- Note when the next window opens or closes, so that whatever comes then finds it turned.
local function plan(term)
  local due
  for _, json in pairs(hash(term:key("windows"))) do
    local window = cjson.decode(json)
    local turns = not window.opened and window.opens or not window.ended and window.closes
    if turns and window.state ~= "canceled" then due = math.min(due or turns, turns) end
  end
  if due then redis.call("SET", term:key("next"), due) else redis.call("DEL", term:key("next")) end
end

local function set_window(term, id, window, name)
  local seq, event = term:next_seq(), { aggregate = "window:" .. id, window = id }
  if name == "window_set" then
    event.window_name, event.opens, event.closes = window.name, window.opens, window.closes
    event.state, event.cohort = window.state, window.cohort
  end
  redis.call("HSET", term:key("windows"), id, cjson.encode(window))
  plan(term)
  term:journal(seq, name, event)
  return { seq = seq }
end

-- A change to a window that is "before" or "running"; `change` gives what is wrong, or nothing.
local function change_window(phase, change)
  return function(term)
    local window, wrong = window_of(term, term.ask.window), nil
    if not window then wrong = "unknown"
    elseif window.state == "canceled" then wrong = "canceled"
    elseif window.state == "closed" or term.at >= window.closes then wrong = "already_ended"
    elseif phase == "before" and term.at >= window.opens then wrong = "already_open"
    elseif phase == "running" and term.at < window.opens then wrong = "not_open"
    else wrong = change(window, term) end
    if wrong then return { error = wrong } end
    return set_window(term, term.ask.window, window, "window_set")
  end
end

local function set_times(window, term)
  window.opens, window.closes = term.ask.opens, term.ask.closes
  if window.opens >= window.closes then return "times_crossed" end
  if window.closes <= term.at then return "in_the_past" end
end

local function put_window(term)
  local ask, known = term.ask, window_of(term, term.ask.window)
  if behind(term) then return { error = "behind" } end
  if known then -- sent twice is no mistake, another window under this number is
    local same = known.name == ask.name and known.opens == ask.opens and known.closes == ask.closes
    return same and {} or { error = "exists" }
  end
  local window = { name = ask.name, cohort = ask.cohort, state = "scheduled" }
  local wrong = set_times(window, term)
  if wrong then return { error = wrong } end
  return set_window(term, ask.window, window, "window_set")
end

local function cancel(window) window.state = "canceled" end

local function close(window, term) window.state, window.closes = "closed", term.at end

local function prolong(window, term)
  if term.ask.closes <= window.closes then return "times_crossed" end
  window.closes = term.ask.closes
end

-- An opening gives everyone who was passed over another chance, in every section.
local function reprieve_all(term)
  local marked = redis.call("SMEMBERS", term:key("marked"))
  redis.call("DEL", term:key("marked"))
  table.sort(marked)
  for _, id in ipairs(marked) do term:reprieve(tonumber(id)) end
end

-- Turn the windows that have opened or closed since the last decision, before the next is made.
local function turn(term)
  local due = tonumber(redis.call("GET", term:key("next")))
  if not due or term.at < due then return end
  local windows, turned = hash(term:key("windows")), term.turned
  for _, id in ipairs(ids(windows)) do
    local window = cjson.decode(windows[tostring(id)])
    local live = window.state ~= "canceled"
    if live and not window.opened and window.opens <= term.at then
      window.opened = true
      set_window(term, id, window, "window_opened")
      reprieve_all(term)
      extend(turned, { { id, "opened" } })
    end
    if live and not window.ended and window.closes <= term.at then
      window.ended = true
      set_window(term, id, window, "window_closed")
      extend(turned, { { id, "closed" } })
    end
  end
end

local function turned(term) return { turned = term.turned } end

-- The doors ---------------------------------------------------------------------------------------

local function register(name, act, flags)
  local function callback(keys, args)
    local term = Term.begin(name, keys, args)
    if not flags then turn(term) end
    local reply = act(term)
    reply.at, reply.wake = reply.at or term.at, reply.wake or term.wake
    return cjson.encode(reply)
  end
  redis.register_function({ function_name = "fairseat_" .. name, callback = callback, flags = flags or {} })
end

register("submit", once(lines_of, submit))
register("drop", once(function(ask) return { ask.section, ask.along } end, drop))
register("leave", once(function(ask) return ask.section end, leave))
register("standing", standing, { "no-writes" })
register("head", head, { "no-writes" })
register("promote", promote)
register("reconsider", reconsider)
register("put_section", put_section)
register("put_window", put_window)
register("move_window", change_window("before", set_times))
register("cancel_window", change_window("before", cancel))
register("extend_window", change_window("running", prolong))
register("close_window", change_window("running", close))
register("turn", turned)
