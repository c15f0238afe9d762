-- Idempotency: every answer, also a refusal, is stored under the caller's key for a day, in the
-- step that decides. The same key with the same content gets the stored answer; with other content,
-- an error. Only a batch of adjustments (adjustment_batch.lua) decides its refusals again. An error,
-- such as a waiting room that does not admit the student, decides nothing and is not stored.

-- Return the answer stored under an idempotency key, or nil and a function that stores one.
local function stored_answer(term, ask, content)
  if (ask.idempotency_key or "") == "" then return nil, function() end end
  local key = term:key("request", ask.student .. ":" .. ask.idempotency_key)
  local digest = redis.sha1hex(cjson.encode({ term.cause, content(ask) }))
  local stored = redis.call("GET", key)
  if not stored then
    return nil, function(answer)
      redis.call("SET", key, cjson.encode({ digest = digest, answer = answer }), "PX", DAY)
    end
  end
  stored = cjson.decode(stored)
  -- Version 1.0.0 called them `asked` and `lines`; answers are stored for a day.
  stored.digest = stored.digest or stored.asked
  stored.answer.results = stored.answer.results or stored.answer.lines
  stored.answer.replayed = true
  return stored.digest == digest and stored.answer or { error = "key_reused" }
end

local function answer_once(content, decide)
  return function(term)
    local stored, store = stored_answer(term, term.ask, content)
    if stored then return stored end
    local reply = decide(term)
    if not reply.error then
      reply.at, reply.wake = reply.at or term.at, term.wake
      store(reply)
    end
    return reply
  end
end
