-- Rate limits: each key holds the moment (ms) at which everything spent has been earned back.
--
-- ARGV[1] is what to do: "spend" takes from all keys or from none, "check" changes nothing, "take_rest"
-- takes from all, each at most up to its burst, and "refund" gives back to all. Then follow the cost
-- and the burst of each key, in ms. The reply is the wait for each key, in ms.

local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local ends, waits, refused = {}, {}, false
local back = ARGV[1] == "refund" and -1 or 1

for i, key in ipairs(KEYS) do
  local cost, size = back * tonumber(ARGV[2 * i]), tonumber(ARGV[2 * i + 1])
  ends[i] = math.max(tonumber(redis.call("GET", key)) or 0, now) + cost
  waits[i] = math.max(0, math.floor(ends[i] - now - size)) -- sums of fractions are not exact
  if ARGV[1] == "take_rest" then ends[i] = math.min(ends[i], now + size) end
  refused = refused or waits[i] > 0
end

if ARGV[1] == "take_rest" or back < 0 or (ARGV[1] == "spend" and not refused) then
  for i, key in ipairs(KEYS) do
    redis.call("SET", key, string.format("%.3f", ends[i]), "PX", math.max(1, math.ceil(ends[i] - now)))
  end
end
return waits
