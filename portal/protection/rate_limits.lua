-- Meters: each is the moment (ms) at which all that was spent on it has been made good for.
--
-- KEYS are meters. ARGV[1] is what to do: "spend" on all or on none, "look" only, "owe": spend on
-- all whatever they stand at, no further than to the brim, or "refund": give back on all. Then for
-- each meter what it costs and what it holds, both in ms. The reply is how long to wait for each, in
-- ms.

local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local ends, waits, refused = {}, {}, false
local back = ARGV[1] == "refund" and -1 or 1

for i, key in ipairs(KEYS) do
  local cost, size = back * tonumber(ARGV[2 * i]), tonumber(ARGV[2 * i + 1])
  ends[i] = math.max(tonumber(redis.call("GET", key)) or 0, now) + cost
  waits[i] = math.max(0, math.floor(ends[i] - now - size)) -- sums of fractions are not exact
  if ARGV[1] == "owe" then ends[i] = math.min(ends[i], now + size) end
  refused = refused or waits[i] > 0
end

if ARGV[1] == "owe" or back < 0 or (ARGV[1] == "spend" and not refused) then
  for i, key in ipairs(KEYS) do
    redis.call("SET", key, string.format("%.3f", ends[i]), "PX", math.max(1, math.ceil(ends[i] - now)))
  end
end
return waits
