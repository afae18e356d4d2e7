-- Writes an account if it still is what it was.
--
-- KEYS[1]  the account
-- KEYS[2]  if there: the mark that it was written, which is done once, whatever repeats this
-- ARGV     what it was (empty: missing), what it is to be, seconds until it expires, the channel on which its name is
--          published (empty: it is not); with a mark also the instant after which it is not written, and now (0: the
--          clock of this server), in microseconds since 1970
-- reply    1 if it was written, 0 if somebody else was first, 2 if it is too late or has been written already
local mark = KEYS[2]
if mark then
  local now = tonumber(ARGV[6])
  if now == 0 then
    local time = redis.call('TIME')
    now = time[1] * 1000000 + time[2]
  end
  if now > tonumber(ARGV[5]) then return 2 end
end
if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then return 0 end
if mark and not redis.call('SET', mark, '', 'EX', 10, 'NX') then return 2 end
redis.call('SET', KEYS[1], ARGV[2], 'EX', ARGV[3])
if ARGV[4] ~= '' then redis.pcall('PUBLISH', ARGV[4], KEYS[1]) end
return 1
