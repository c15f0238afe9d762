-- Rate limits: each key holds the moment (ms) at which everything spent has been earned back.
--
-- Many requests are answered in their order. For each, ARGV has what to do, the number of its keys, and the
-- cost and the burst of each key, in ms. "spend" takes from all keys or from none, "check" changes nothing,
-- "take_rest" takes from all, each at most up to its burst, and "refund" gives back to all. The reply is the
-- wait for each key, in ms.

local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local waits, key_index, arg_index = {}, 0, 1

local function next_request()
  local act, count = ARGV[arg_index], tonumber(ARGV[arg_index + 1])
  local back, ends, refused = act == "refund" and -1 or 1, {}, false
  for i = 1, count do
    local cost = back * tonumber(ARGV[arg_index + 2 * i])
    local size = tonumber(ARGV[arg_index + 2 * i + 1])
    ends[i] = math.max(tonumber(redis.call("GET", KEYS[key_index + i])) or 0, now) + cost
    local wait = math.max(0, math.floor(ends[i] - now - size)) -- sums of fractions are not exact
    if act == "take_rest" then ends[i] = math.min(ends[i], now + size) end
    waits[#waits + 1], refused = wait, refused or wait > 0
  end
  if act == "take_rest" or back < 0 or (act == "spend" and not refused) then
    for i = 1, count do
      local left = math.max(1, math.ceil(ends[i] - now))
      redis.call("SET", KEYS[key_index + i], string.format("%.3f", ends[i]), "PX", left)
    end
  end
  key_index, arg_index = key_index + count, arg_index + 2 + 2 * count
end

while arg_index < #ARGV do next_request() end
return waits
