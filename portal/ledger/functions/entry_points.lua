-- Entry points: the functions that clients call, unless the term is fenced
-- (portal/recorder/consistency/fence.py).

local FENCED = "FENCED the seats of the term are being restored"

local function register(name, act, flags)
  local function callback(keys, args)
    local term = Term.begin(name, keys, args)
    local fence, due = unpack(redis.call("MGET", term:key("fence"), term:key("next")))
    if fence then return redis.error_reply(FENCED) end
    if not flags then turn(term, tonumber(due)) end
    local reply = act(term)
    reply.at, reply.wake = reply.at or term.at, reply.wake or term.wake
    return cjson.encode(reply)
  end
  redis.register_function({ function_name = "fairseat_" .. name, callback = callback, flags = flags or {} })
end

-- Add the student's seats and waitlists to the answer, which saves a second call. The stored answer
-- leaves them out, since they may change before a replay.
local function with_registrations(act)
  return function(term)
    local reply = act(term)
    if not (reply.error or reply.replayed) then reply.registrations = registrations(term) end
    return reply
  end
end

-- Return in one call what a student's page shows: the registrations, the number of changes of the
-- plan, and the counts of sections.
local function student_state(term)
  local ask, reply = term.ask, registrations(term)
  reply.plan = tonumber(redis.call("GET", term:key("plans", ask.student)) or 0)
  reply.seats = ask.sections and redis.call("HMGET", term:key("seats"), unpack(ask.sections))
  return reply
end

register("submit", with_registrations(rate_limited(answer_once(function(ask) return ask.content end, submit))))
register("drop", with_registrations(rate_limited(answer_once(function(ask) return { ask.section, ask.along } end, drop))))
register("leave", with_registrations(rate_limited(answer_once(function(ask) return ask.section end, leave))))
register("adjust", answer_once(adjusted, adjust))
register("adjust_batch", adjust_batch)
register("allocate", allocate)
register("put_round_end", put_round_end)
register("hold_for_round", hold_for_round)
register("end_round", end_round)
register("preview", preview, { "no-writes" })
register("registrations", registrations, { "no-writes" })
register("student_state", student_state, { "no-writes" })
register("head", head, { "no-writes" })
register("promote", promote)
register("reconsider", reconsider)
register("put_section", put_section)
register("empty", empty)
register("put_deadlines", put_deadlines)
register("put_window", put_window)
register("move_window", change_window("before", set_times))
register("cancel_window", change_window("before", cancel))
register("extend_window", change_window("running", prolong))
register("close_window", change_window("running", close))
register("turn", turned)
