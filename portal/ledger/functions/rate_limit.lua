-- The rate limit of a student's requests for decisions. The deciding step counts it, which saves a
-- round trip. The algorithm is that of portal/protection/rate_limits.lua: the key holds the moment
-- (ms) at which everything spent has been earned back. A request over the limit decides nothing.

local function rate_limited(act)
  return function(term)
    local rate = term.ask.rate
    if not rate then return act(term) end
    local key = term:key("rate", term.ask.student)
    local ends = math.max(tonumber(redis.call("GET", key)) or 0, term.at) + rate.cost
    local wait = math.floor(ends - term.at - rate.size)
    if wait > 0 then return { error = "rate_limited", wait = wait } end
    redis.call("SET", key, string.format("%.3f", ends), "PX", math.ceil(ends - term.at))
    return act(term)
  end
end
