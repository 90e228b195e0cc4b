/**
 * Takes one token from a bucket in Redis, as `takeToken` in token-bucket.ts does in this process. A script call is atomic,
 * so any number of processes can share a bucket.
 *
 * KEYS[1] the bucket, a hash of tokens (nano-tokens), time (unix µs), max (nano-tokens) and rate (milli-tokens/s).
 * ARGV[1], ARGV[2] the limits in force, in the units of max and rate.
 *
 * Returns {admitted 0 or 1, tokens, time, now}: the bucket as stored, and Redis's clock. TypeScript derives what the client
 * sees from them, once for all stores.
 *
 * Lua 5.1 has doubles only, so all values are integers below 2^53.
 */
export const TAKE_TOKEN = `
local TOKEN = 1000000000

local key = KEYS[1]
local max = tonumber(ARGV[1])
local rate = tonumber(ARGV[2])
-- The clocks of the servers differ, and Redis has one for all of them.
local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2]

-- Exact for a below 2^53: see ceilDivide in token-bucket.ts.
local function ceil_divide(a, b)
  return math.ceil(a / b)
end

-- An absent bucket is full: that is why it may expire.
local stored = redis.call('HMGET', key, 'tokens', 'time', 'max', 'rate')
local tokens = tonumber(stored[1])
local time = tonumber(stored[2])
local stored_max = tonumber(stored[3])
local stored_rate = tonumber(stored[4])
if not (tokens and time and stored_max and stored_rate) then
  tokens, time, stored_max, stored_rate = max, now, max, rate
end
local stored_tokens, stored_time = tokens, time

-- Credit the time that passed, under the limits that were in force. Times are compared before they are multiplied, as
-- years at a high rate would leave 2^53. A clock that went back (a failover, a correction) credits nothing. A small lead of
-- the stored time is kept, or the same time would be credited twice; a larger one would keep the key waiting.
local elapsed = now - time
if elapsed < -1000000 then
  time = now
elseif elapsed > 0 then
  if elapsed >= ceil_divide(stored_max - tokens, stored_rate) then
    tokens = stored_max
  else
    tokens = tokens + elapsed * stored_rate
  end
  time = now
end

-- Apply changed limits: a full bucket stays full, otherwise tokens are kept and cut.
if tokens == stored_max then
  tokens = max
else
  tokens = math.min(tokens, max)
end

local admitted = 0
if tokens >= TOKEN then
  tokens = tokens - TOKEN
  admitted = 1
end

-- A refusal under unchanged limits writes nothing: a client that hammers an empty bucket costs no replication, and the
-- credit follows from the older state just as well.
if admitted == 0 and max == stored_max and rate == stored_rate and stored_time <= time then
  return {0, stored_tokens, stored_time, now}
end

-- '%.0f', because Lua's own number to string keeps 14 digits.
local function digits(number)
  return string.format('%.0f', number)
end
redis.call('HSET', key, 'tokens', digits(tokens), 'time', digits(time), 'max', digits(max), 'rate', digits(rate))

-- Gone when it is full, with a second to spare for a clock that is set back a little.
local until_full = time - now + ceil_divide(max - tokens, rate)
redis.call('PEXPIRE', key, digits(ceil_divide(until_full, 1000) + 1000))

return {admitted, tokens, time, now}
`;
