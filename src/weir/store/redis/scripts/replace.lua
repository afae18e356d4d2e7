-- Writes an account if it still is what it was.
--
-- KEYS[1]  the account
-- ARGV     what it was (empty: missing), what it is to be, seconds until it expires, the channel on which its name is
--          published (empty: it is not)
-- reply    1 if it was written, 0 if somebody else was first
if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'EX', ARGV[3])
if ARGV[4] ~= '' then redis.pcall('PUBLISH', ARGV[4], KEYS[1]) end
return 1
