-- The fence that stops all entry points, and the functions that work behind it
-- (portal/recorder/consistency/fence.py).

local function past(name, act)
  local function callback(keys, args)
    local function key(each) return keys[1] .. ":" .. each end
    local found = { fence = redis.call("GET", key("fence")) or "" }
    found.seq = tonumber(redis.call("GET", key("seq")) or 0)
    found.run = string.match(redis.call("INFO", "server"), "run_id:(%x+)")
    return cjson.encode(act(cjson.decode(args[1]), found, key))
  end
  redis.register_function({ function_name = "fairseat_" .. name, callback = callback })
end

-- Put up a fence if none stands and, if `behind` is given, the last event is before it.
past("fence", function(ask, found, key)
  if found.fence == "" and (not ask.behind or found.seq < ask.behind) then
    redis.call("SET", key("fence"), ask.why)
    found.fence = ask.why
  end
  return found
end)

-- Run commands, and replace or remove this fence. Only while this fence stands and, where given, in
-- the same run of the server and after the same event.
past("behind_fence", function(ask, found, key)
  local same = found.fence == ask.was and found.run == (ask.run or found.run)
  found.changed = not same or found.seq ~= (ask.seq or found.seq)
  if found.changed then return found end
  for _, command in ipairs(ask.commands) do redis.call(unpack(command)) end
  if ask.now == "" then redis.call("DEL", key("fence")) else redis.call("SET", key("fence"), ask.now) end
  return found
end)
