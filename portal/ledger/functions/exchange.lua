-- An exchange: a ring of moves by hand, each into the seat that the next one leaves, in one step.
-- On the whole no count changes, so none of them needs a seat that is free.

local RING = 100 -- moves: so long do others wait

-- What a section's seats are of: its pool, or itself.
local function place_of(term, id)
  local pool = tonumber(redis.call("HGET", term:key("section", id), "pool") or 0)
  return pool > 0 and "pool " .. pool or "section " .. id
end

-- Whether each move leaves a seat to the one before, and nobody and no seat comes twice.
local function closes(term, moves)
  local seen = {}
  for i, move in ipairs(moves) do
    local next_one = moves[i % #moves + 1]
    local into, out = "into " .. move.add.section, "out of " .. move.drop
    if seen[move.student] or seen[into] or seen[out] then return false end
    seen[move.student], seen[into], seen[out] = true, true, true
    if place_of(term, move.add.section) ~= place_of(term, next_one.drop) then return false end
  end
  return #moves > 1 and #moves <= RING
end

-- A section as it is once the leaver has given up a seat of it, or of its pool.
local function vacated(term, id, leaver)
  local section = term:section(id)
  local entry = redis.call("HGET", term:key("roster", leaver.drop), leaver.student)
  if not section or not entry then return section end
  if leaver.drop == id then
    section.taken = section.taken - 1
    term:count_kept(section, tonumber(entry:match("%d+:%d+:%d+:?(%d*)")))
  end
  local shared = section.shared
  if shared then shared.taken = shared.taken - 1 end
  section.free = section.taken < section.capacity and (not shared or shared.taken < shared.capacity)
  return section
end

local function first_in_line(term, id)
  local student, ticket = unpack(redis.call("ZRANGE", term:key("queue", id), 0, 0, "WITHSCORES"))
  return tonumber(student), tonumber(ticket)
end

-- Whether the seat is this student's to have. As it comes free everyone in line is asked again, in
-- all lists of the pool: it belongs to whoever has waited longest.
local function seat_left(term, section, move, leaver)
  if not section.free or not (unkept(section) or reserve_for(section, move.add.reserves)) then return false end
  local first, ticket = first_in_line(term, section.id)
  if first and first ~= move.student then return false end
  for _, each in ipairs(section.shared and section.shared.sections or {}) do
    local capacity, taken, waiting, _, status = unpack(each.counts)
    if each.id == leaver.drop then taken = taken - 1 end
    if status == "OPEN" and waiting > 0 and taken < capacity then
      local _, longer = first_in_line(term, each.id)
      if not first or longer < ticket then return false end
    end
  end
  return true
end

local function objections_in_ring(term, move, leaver)
  return objections_by_hand(term, move, term:selections(move.student), function(id)
    local section = vacated(term, id, leaver)
    return section, section and seat_left(term, section, move, leaver)
  end)
end

-- What refuses each of them, and the codes of what is put aside; whether all may.
local function weigh_ring(term, moves)
  local left, aside, may = {}, {}, true
  for i, move in ipairs(moves) do
    local reasons = objections_in_ring(term, move, moves[i % #moves + 1])
    left[i], aside[i] = sift(reasons, term.ask.overrides)
    may = may and #left[i] == 0
  end
  return left, aside, may
end

-- All or none. All leave before anyone enters: at no event are more seats taken than before.
local function exchange(term)
  local moves, answers = term.ask.moves, {}
  if not closes(term, moves) then return { error = "no_ring" } end
  local left, aside, may = weigh_ring(term, moves)
  for i, move in ipairs(moves) do
    if may then
      begin_by_hand(term, aside[i])
      local alone = term:orphans(move.student, move.drop, move.add.section)
      term:release(move.drop, move.student, { swap = move.add.section, alone = alone })
    else
      answers[i] = refused_by_hand(term, move, left[i])
    end
  end
  for i, move in ipairs(may and moves or {}) do
    begin_by_hand(term, aside[i])
    answers[i] = seat_by_hand(term, move, term:section(move.add.section))
  end
  return { answers = answers }
end

local function exchanged(ask)
  local moves = {}
  for i, move in ipairs(ask.moves) do
    moves[i] = { move.student, move.drop, move.add.section, move.asked or 0 }
  end
  return { moves, ask.overrides or 0 }
end
