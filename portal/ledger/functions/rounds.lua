-- Allocation rounds: hold back the seats of sections from the end of a round on, give them out, and
-- let the sections go again.

local OF_ROUND = {} -- in place of windows: a round needs none

-- Remember when a round ends: from then on, no student takes seats before its sections are held back.
local function put_round_end(term)
  local ask = term.ask
  if tonumber(redis.call("HGET", term:key("round_ends"), ask.round)) == ask.ends then return {} end
  redis.call("HSET", term:key("round_ends"), ask.round, ask.ends)
  local seq = term:next_seq()
  term:journal(seq, "round_end_set", { aggregate = "rounds", round = ask.round, ends = ask.ends })
  return { seq = seq }
end

-- Hold back the seats of these sections for a round. Sections that another round holds stay with it.
local function hold_for_round(term)
  local ask, added = term.ask, {}
  if behind(term) then return { error = "behind" } end
  for _, id in ipairs(ask.sections) do
    if redis.call("HSETNX", term:key("in_round"), id, ask.round) == 1 then
      added[#added + 1] = id
      redis.call("SREM", term:key("vacant"), id)
    end
  end
  local known = redis.call("HDEL", term:key("round_ends"), ask.round)
  if #added == 0 and known == 0 then return {} end
  local seq = term:next_seq()
  term:journal(seq, "round_held", { aggregate = "rounds", round = ask.round, sections = added })
  return { seq = seq }
end

-- Let the sections of a round go: free seats belong to their waitlists again.
local function end_round(term)
  local ask, freed = term.ask, {}
  for id, round in pairs(hash(term:key("in_round"))) do
    if tonumber(round) == ask.round then freed[#freed + 1] = tonumber(id) end
  end
  local known = redis.call("HDEL", term:key("round_ends"), ask.round)
  if #freed == 0 and known == 0 then return {} end
  table.sort(freed)
  for _, id in ipairs(freed) do redis.call("HDEL", term:key("in_round"), id) end
  local seq = term:next_seq()
  term:journal(seq, "round_ended", { aggregate = "rounds", round = ask.round, sections = freed })
  for _, id in ipairs(freed) do
    local counts = term:counts(id)
    if counts then term:mark_vacancy(id, counts) end
  end
  return { seq = seq }
end

-- The reasons against an alternative, section by section.
local function against(parts)
  local found = {}
  for i, part in ipairs(parts) do
    if part.section and not (part.had or part.seat or part.waits) then
      add_reason(part.reasons, "full", full(part.section))
    end
    found[i] = { section = part.claim.section, reasons = part.reasons }
  end
  return found
end

-- Give all seats of an alternative, or none. Seats that the student has already are given.
local function give_in_round(term, move)
  local mine, had = term:selections(move.student), true
  for _, claim in ipairs(move.claims) do had = had and mine.held[claim.section] end
  if had then return { outcome = "enrolled" } end
  local parts = check_alternative(term, mine, move.claims, nil, false)
  if chance(parts) ~= "seats" then return { outcome = "refused", against = against(parts) } end
  for _, part in ipairs(parts) do
    if part.seat then term:seat("enrolled", part.section, move.student, part.claim, {}) end
  end
  return { outcome = "enrolled" }
end

-- Put a student on the waitlist of a section, unless rules or a full waitlist refuse it.
local function queue_in_round(term, move)
  local mine, claim = term:selections(move.student), move.claims[1]
  if mine.held[claim.section] or mine.waiting[claim.section] then return { outcome = "waitlisted" } end
  local section = term:section(claim.section)
  claim.windows, claim.credit_limit = OF_ROUND, move.credit_limit
  local reasons = term:refusal_reasons(section, mine, claim)
  if section and section.waiting >= section.waitlist then add_reason(reasons, "waitlist_full", full(section)) end
  if #reasons > 0 then return { outcome = "refused", against = { { section = claim.section, reasons = reasons } } } end
  join(term, section, claim)
  return { outcome = "waitlisted" }
end

local function decide_move(term)
  local move = term.ask
  term.context = { round = move.round, turn = move.turn > 0 and move.turn or nil }
  term.windows, term.window_reasons, term.during = OF_ROUND, {}, nil
  move.windows = OF_ROUND
  return move.wait and queue_in_round(term, move) or give_in_round(term, move)
end

local function move_content(ask) return { ask.round, ask.turn, ask.wait and 1 or 0 } end
local decide_move_once = answer_once(move_content, decide_move)

-- Do some moves of a round, each once: the same key gives the same answer. A key that was used for
-- something else stops neither its move nor the others: a seat that is had already counts as given.
local function allocate(term)
  local ask, answers = term.ask, {}
  term.round, term.quiet = ask.round, true
  for i, move in ipairs(ask.moves) do
    term.ask = setmetatable(move, { __index = ask })
    answers[i] = decide_move_once(term)
    if answers[i].error then answers[i] = decide_move(term) end
  end
  return { answers = answers }
end
