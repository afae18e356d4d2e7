-- Changes what charges of an account took, each where it was counted and while it counts there.
--
-- KEYS     as in acquire.lua
-- ARGV[1]  packed, little-endian: d now (0: the clock of this server), I2 life, B changes; and for each: B algorithm,
--          B size + head, then (`by` above 0 is taken, below given back)
--            1, 2 bucket            d sign, d whole, d rest, d count, d lowest, d rest, d most, d place, d ample, d rest
--                                   (sign 1: takes; -1: gives back; 0: nothing; whole and rest: time that the amount
--                                   takes, in microseconds and 1/count of them; lowest: the largest debt that is
--                                   allowed; most: that no jump of the clock explains; place: if not 0, gives back
--                                   only if t, rounded up, is this; ample: the largest debt at which no request is
--                                   refused)
--            3, 4 window            d by, d at, d window, d shift, d most, d ample: the most that may be used
--                                   while no request is refused
--            5 calendar quota       d by, d at, d most, d start, d end, d ample
--            6 log                  d by, d at, d window, d most, d limit, d ample, B key
--            7 leases               d 0 ends, 1 renews, 2 looks; d cost, d time, d least, B key, c16 id
-- ARGV[2]  the channel on which whoever remembers a refusal is told of the account's name when something is given
--          back while a request can be refused; empty: nobody is
-- ARGV[3]  if there: the changes are made once, whatever repeats this, and not after this instant; the last of KEYS,
--          which no change names, is the mark that they were made
-- reply    packed: i4 0, d now, I4 size + the account afterwards, and for each log and each set of leases
--            log: d used, d newest, d 0, d end of the unit
--            that has to go for one more, d 0;  leases: d held, d last end,
--            d 1 if this one was alive
--          or -1 and -2 as in acquire.lua, or -3 where it is too late or has been made: then nothing is changed
local key, arg = KEYS[1], ARGV[1]
local call, unpack, pack, byte, sub = redis.call, struct.unpack, struct.pack, string.byte, string.sub
local kJump = 60000000

local now, life, count, at = unpack('<dI2B', arg)
local record = call('GET', key) or ''
if now == 0 then
  local time = call('TIME')
  now = time[1] * 1000000 + time[2]
end

local function answer(done) return pack('<i4dI4', done, now, #record) .. record end

if ARGV[3] and now > tonumber(ARGV[3]) then return answer(-3) end

local slots, heads_at, states_at = {}, {}, {}
if #record > 0 then
  life = math.max(life, (unpack('<I2', record)))
  local n, p, offset = 0, 3, 0
  while byte(record, p) > 0 do
    local bytes = byte(record, p) % 64
    n = n + 1
    slots[sub(record, p + 1, p + 4)] = n
    heads_at[n], states_at[n] = p, offset
    offset = offset + (byte(record, p) - bytes) / 8
    p = p + 1 + bytes
  end
  for i = 1, n do states_at[i] = states_at[i] + p + 1 end
  heads_at[n + 1], states_at[n + 1] = p, #record + 1
end

local kFormats = {'<BBc0dddddddddd', '<BBc0dddddddddd', '<BBc0dddddd', '<BBc0dddddd', '<BBc0dddddd', '<BBc0ddddddB',
                  '<BBc0ddddBc16'}
local kStates = {'<d', '<dd', '<dd', '<ddd', '<ddd', '', '<dd'}
local changes, jumped = {}, false
for i = 1, count do
  local k = byte(arg, at)
  local n = {unpack(kFormats[k], arg, at)}
  at = n[#n]
  local head = n[2]
  local slot = slots[sub(head, 1, 4)]
  local state
  if slot then
    if sub(record, heads_at[slot] + 1, heads_at[slot + 1] - 1) ~= head then return answer(-1) end
    if k ~= 6 then state = {unpack(kStates[k], record, states_at[slot])} end
  end
  changes[i] = {kind = k, head = head, slot = slot, state = state, n = n}
end

local function window_begin(own, window) return own - own % window end

local scarce = false  -- of what is given back

-- Each returns the new state, or nothing when it stays; and whether the clock has jumped.
local function bucket(c)
  local n, s = c.n, c.state
  local sign, whole, rest, parts, lowest, lowest_rest, most, fixed = n[3], n[4], n[5], n[6], n[7], n[8], n[9], n[10]
  local ample, ample_rest = n[11], n[12]
  local debt, part = 0, 0
  if s and s[1] >= now then debt, part = s[1] - now, s[2] or 0 end
  if debt > most then return nil, true end
  if c.kind == 1 then part = 0 end
  local empty = s and (part > 0 and s[1] + 1 or s[1])
  if sign == 0 or fixed ~= 0 and empty ~= fixed then return nil end
  if sign < 0 then
    if not s or debt == 0 and part == 0 then return nil end
    scarce = scarce or debt > ample or debt == ample and part > ample_rest
    debt, part = debt - whole, part - rest
    if part < 0 then debt, part = debt - 1, part + parts end
    if debt < 0 then debt, part = 0, 0 end
  else
    local above = debt > lowest or debt == lowest and part >= lowest_rest
    if above then return nil end
    debt, part = debt + whole, part + rest
    if part >= parts then debt, part = debt + 1, part - parts end
    if debt > lowest or debt == lowest and part > lowest_rest then debt, part = lowest, lowest_rest end
  end
  return {now + debt, part}
end

local function fixed(c)
  local by, when, window, shift, most, ample = c.n[3], c.n[4], c.n[5], c.n[6], c.n[7], c.n[8]
  local own = now + shift
  local start, used = own, 0
  if c.state then start, used = c.state[1], c.state[2] end
  if used == 0 or start + window <= own then
    start, used = window_begin(own, window), 0
  elseif start - own > kJump then
    return nil, true
  end
  if by == 0 or when < start or when >= start + window then return nil end
  scarce = scarce or by < 0 and used > ample
  if by < 0 then used = math.max(0, used + by) else used = math.min(used + by, math.max(used, most)) end
  return {start, used}
end

local function sliding(c)
  local by, when, window, shift, most, ample = c.n[3], c.n[4], c.n[5], c.n[6], c.n[7], c.n[8]
  local own = now + shift
  local s = {own, 0, 0}
  if c.state then s = {c.state[1], c.state[2], c.state[3]} end
  if own >= s[1] + window then s = {s[1] + window, s[3], 0} end
  if own >= s[1] + window then s[2] = 0 end
  if s[2] == 0 and s[3] == 0 then s[1] = window_begin(own, window) end
  if s[1] - own > kJump then return nil, true end
  local begin = window_begin(when, window)
  local counter = begin == s[1] and 3 or begin == s[1] - window and 2
  if by == 0 or not counter then return nil end
  if by < 0 then  -- rounding keeps the order of the products, so this is never too seldom
    local left = own > s[1] and window - (own - s[1]) or window
    scarce = scarce or s[3] > ample or s[2] > 0 and s[2] * left >= (ample - s[3]) * window
  end
  local used = s[counter]
  if by < 0 then s[counter] = math.max(0, used + by) else s[counter] = math.min(used + by, math.max(used, most)) end
  return s
end

local function calendar(c)
  local by, when, most, begin, finish, ample = c.n[3], c.n[4], c.n[5], c.n[6], c.n[7], c.n[8]
  local start, ends, used = begin, finish, 0
  if c.state then start, ends, used = c.state[1], c.state[2], c.state[3] end
  if used == 0 or now >= ends then
    start, ends, used = begin, finish, 0
  elseif start - now > kJump then
    return nil, true
  end
  if by == 0 or when < start or when >= ends then return nil end
  scarce = scarce or by < 0 and used > ample
  if by < 0 then used = math.max(0, used + by) else used = math.min(used + by, math.max(used, most)) end
  return {start, ends, used}
end

local steps = {bucket, bucket, fixed, sliding, calendar}
for i = 1, count do
  local c = changes[i]
  if c.kind < 6 then
    local state, jump = steps[c.kind](c)
    if jump then return answer(-1) end
    c.after = state
  end
end

-- From here on nothing fails.
if ARGV[3] and not call('SET', KEYS[#KEYS], '', 'EX', 10, 'NX') then return answer(-3) end

-- Reads and writes no more of a log than what is behind the change.
local function change_log(c)
  local by, when, window, most, limit, ample, log = c.n[3], c.n[4], c.n[5], c.n[6], c.n[7], c.n[8], KEYS[c.n[9]]
  local entries = call('STRLEN', log) / 16
  local function entry(i) return unpack('<dd', call('GETRANGE', log, i * 16, i * 16 + 15)) end
  local function find(low, instant, total)  -- the first of them that is not before the instant, or has the total
    local high = entries
    while low < high do
      local middle = math.floor((low + high) / 2)
      local at, sum = entry(middle)
      if instant and at >= instant or total and sum >= total then high = middle else low = middle + 1 end
    end
    return low
  end

  local newest, total, before = 0, 0, 0
  if entries > 0 then newest, total = entry(entries - 1) end
  local shift = newest - now > kJump and newest - now or 0
  local entered = math.max(now, newest - shift)
  local begin = find(1, entered - window + shift + 1)
  if entries > 0 then before = select(2, entry(begin - 1)) end

  local spot = find(begin, when + shift)
  local counts = when <= entered and when > entered - window
  local previous, at, sum = 0, nil, 0
  if entries > 0 then previous = select(2, entry(spot - 1)) end
  if spot < entries then at, sum = entry(spot) end
  local found = counts and at == when + shift
  local amount = 0
  if by < 0 and found then
    amount = -math.min(-by, sum - previous)
  elseif by > 0 and counts and (found or shift == 0) then
    amount = math.max(0, math.min(by, most - (total - before)))
  end
  scarce = scarce or amount < 0 and total - before > ample
  if amount ~= 0 then
    local pieces, tail = {}, call('GETRANGE', log, spot * 16, -1)
    local gone = found and sum + amount == previous
    if not found then pieces[1] = pack('<dd', when, previous + amount) end
    for p = gone and 17 or 1, #tail, 16 do
      local instant, running = unpack('<dd', tail, p)
      pieces[#pieces + 1] = pack('<dd', instant, running + amount)
    end
    local fresh = table.concat(pieces)
    if found and not gone then
      call('SETRANGE', log, spot * 16, fresh)
    else
      call('SET', log, (entries > 0 and call('GETRANGE', log, 0, spot * 16 - 1) or pack('<dd', 0, 0)) .. fresh)
    end
    call('PEXPIRE', log, math.max(10000, math.ceil(window / 500)))
    entries = math.max(entries, 1) + (gone and -1 or found and 0 or 1)
    if not c.slot then c.after = {} end
  end

  local used = total + amount - before
  if used == 0 then return pack('<ddddd', 0, 0, entered, 0, 0) end
  local first = entry(find(begin, nil, before + math.max(1, used - limit + 1)))
  return pack('<ddddd', used, entry(entries - 1) - shift, entered, first - shift + window, 0)
end

local function change_leases(c)
  local what, cost, lease, least, set, id = c.n[3], c.n[4], c.n[5], c.n[6], KEYS[c.n[7]], c.n[8]
  local held, longest = 0, lease
  if c.state then held, longest = c.state[1], math.max(longest, c.state[2]) end
  local member = id .. pack('<I4', cost)
  local ends = tonumber(call('ZSCORE', set, member) or 0)
  local alive = ends > now
  local function instant(x) return string.format('%.0f', x) end
  if alive and what == 0 then
    call('ZREM', set, member)
    held = held - cost
    c.after = {held, longest}
  elseif alive and what == 1 then
    local time = math.max(lease, least)
    local latest = now + longest + kJump
    call('ZADD', set, instant(ends > latest and now + time or math.max(ends, now + time)), member)
    longest = math.max(longest, time)
    call('PEXPIRE', set, math.max(10000, math.ceil(longest / 500)))
    c.after = {held, longest}
  end
  local last = now
  local top = call('ZREVRANGE', set, 0, 0, 'WITHSCORES')
  if #top == 0 then held = 0 else last = math.max(last, tonumber(top[2])) end
  if last > now + longest + kJump then last = now + lease end
  for _, ended in ipairs(call('ZRANGEBYSCORE', set, '-inf', instant(now))) do held = held - unpack('<I4', ended, 17) end
  return pack('<ddd', held, last, alive and 1 or 0)
end

local facts = {}
for i = 1, count do
  local c = changes[i]
  if c.kind == 6 then facts[#facts + 1] = change_log(c) end
  if c.kind == 7 then facts[#facts + 1] = change_leases(c) end
end

local edits, fresh, changed = {}, {}, false
for i = 1, count do
  local c = changes[i]
  if c.after then
    local a, k = c.after, c.kind
    if k == 1 then
      c.bytes = pack('<d', a[1])
    elseif k == 4 or k == 5 then
      c.bytes = pack('<ddd', a[1], a[2], a[3])
    else
      c.bytes = k == 6 and '' or pack('<dd', a[1], a[2])
    end
    if c.slot then edits[c.slot] = c else fresh[#fresh + 1] = c end
    changed = true
  end
end
if changed then
  local pieces, states = {pack('<I2', life)}, {}
  local function add(c)
    pieces[#pieces + 1] = string.char(#c.head + #c.bytes * 8) .. c.head
    states[#states + 1] = c.bytes
  end
  for i = 1, #heads_at - 1 do
    if edits[i] then
      add(edits[i])
    else
      pieces[#pieces + 1] = sub(record, heads_at[i], heads_at[i + 1] - 1)
      states[#states + 1] = sub(record, states_at[i], states_at[i + 1] - 1)
    end
  end
  for i = 1, #fresh do add(fresh[i]) end
  record = table.concat(pieces) .. '\0' .. table.concat(states)
  call('SETEX', key, (life % 2048) * 2 ^ math.floor(life / 2048), record)
end
-- A user who may not publish has given back nevertheless.
if scarce and ARGV[2] ~= '' then redis.pcall('PUBLISH', ARGV[2], key) end
return answer(0) .. table.concat(facts)
