-- Decides `wanted` equal requests on one account, one after the other, each of them by all of its limits or not at
-- all, and writes what the admitted ones take in one SET. A refusal writes nothing, nor does a cost of 0. When all of
-- them are admitted, more may be granted ahead.
--
-- KEYS[1]  the account, a string: I2 life, per slot: B size of its head + 64 * its doubles, head (the bytes that name
--          the slot and its numbers, the first four are the slot's name); B 0; then the states of the slots:
--            1 t   2 t, rest   3 start, used   4 start, previous, current   5 start, end, used   6 none
--            7 held, longest lease
--          life: a code, the larger the longer; (code % 2048) * 2 ^ floor(code / 2048) seconds that the account is
--          kept for after a write
-- KEYS[n]  lists of it, with the same hash tag: a log is a string of entries (d instant, d total of all costs up to
--          it), entry 0 stands before the first that counts; leases are a sorted set of c16 id + I4 cost by their end
-- ARGV[1]  packed, little-endian: B 1 or 2 if the charges are so many of the first algorithm and nothing is particular
--          about them; then
--            d now, I4 wanted, B size + what an account that has just these begins with, and for each d tau,
--            d increment
--          else B 0, d now (0: the clock of this server), I4 wanted; and then in any case I2 life, B charges, and for
--          each charge: B algorithm, B flags, B size + head, then
--            1 bucket               d tau, d increment, d most   (time to fill it, time that the cost takes, the
--                                                                largest debt that no jump of the clock explains)
--            2 bucket by fractions  d count, d tau, d rest, d increment, d rest, d most    (rests in 1/count)
--            3 fixed window, 4 sliding window
--                                   d limit, d cost, d window, d shift   (from the clock to the window's own time)
--            5 calendar quota       d limit, d cost, d start, d end      (of the period that now is in)
--            6 log                  d limit, d cost, d window, B key
--            7 leases               d limit, d cost, d time, B key, c16 id
--          flags: 1 the cost is above 0; 2 there follow: B size + head, B size + state that are there, B size + the
--          state that this means to this charge; 4 that state is kept when this charge itself is refused
-- ARGV[2]  the seconds that `life` stands for
-- ARGV[3]  if there, packed: I4 ahead, I4 parts; grants up to so many more, one part of those that still fit
-- reply    packed: i4 granted, d now, I4 size + the account as it was, and for each log and each set of leases
--            log: d used, d newest, d entered at, d end of its first unit, d end of what is in the way
--            leases: d held, d last end, d 1 if this one is held already
--          granted -1: a slot was written with other numbers, or the clock jumped; -2: another period is now
-- Instants are microseconds since 1970, durations are microseconds.
local key, arg = KEYS[1], ARGV[1]
local call, unpack, pack, sub = redis.call, struct.unpack, struct.pack, string.sub
local kJump = 60000000

local record = call('GET', key) or ''
local size = #record

-- Most requests are this: one or two buckets, which are all that their account has.
local plain = string.byte(arg)
local now, wanted, life, count, at
if plain > 0 then
  local begin, limit, cost
  local limit2, cost2, debt, debt2 = 0, 0, 0, 0
  if plain == 1 then
    now, wanted, begin, limit, cost, at = unpack('<dI4Bc0dd', arg, 2)
  else
    now, wanted, begin, limit, cost, limit2, cost2, at = unpack('<dI4Bc0dddd', arg, 2)
  end
  if now == 0 then
    local time = call('TIME')
    now = time[1] * 1000000 + time[2]
  end
  local fits = size == 0
  if not fits and sub(record, 1, #begin) == begin then
    fits = true
    if plain == 1 then
      debt = unpack('<d', record, #begin + 1) - now
    else
      debt, debt2 = unpack('<dd', record, #begin + 1)
      debt, debt2 = debt - now, debt2 - now
      if debt2 < 0 then debt2 = 0 end
    end
    if debt < 0 then debt = 0 end
    if debt > limit + kJump or debt2 > limit2 + kJump then
      return pack('<i4dI4', -1, now, size) .. record
    end
  end
  if fits then
    local granted = (limit - debt) / cost
    if plain == 2 then
      local fit = (limit2 - debt2) / cost2
      if fit < granted then granted = fit end
    end
    if granted < wanted then
      granted = granted > 0 and granted - granted % 1 or 0
    elseif ARGV[3] then
      local ahead, parts = unpack('<I4I4', ARGV[3])
      local more = (granted - wanted) / parts
      granted = wanted + (more < ahead and more - more % 1 or ahead)
    else
      granted = wanted
    end
    if granted > 0 then
      if plain == 1 then
        begin = begin .. pack('<d', now + debt + granted * cost)
      else
        begin = begin .. pack('<dd', now + debt + granted * cost, now + debt2 + granted * cost2)
      end
      call('SETEX', key, ARGV[2], begin)
    end
    return pack('<i4dI4', granted, now, size) .. record
  end
  life, count, at = unpack('<I2B', arg, at)
else
  now, wanted, life, count, at = unpack('<dI4I2B', arg, 2)
  if now == 0 then
    local time = call('TIME')
    now = time[1] * 1000000 + time[2]
  end
end

local byte = string.byte
local function answer(granted) return pack('<i4dI4', granted, now, size) .. record end
-- Where the slots are: by their names, where the head is and where the state.
local slots, heads_at, states_at = {}, {}, {}
if size > 0 then
  local kept = unpack('<I2', record)
  if kept > life then life = kept end
  local n, p, offset = 0, 3, 0
  local b = byte(record, p)
  while b > 0 do
    local bytes = b % 64
    n = n + 1
    slots[sub(record, p + 1, p + 4)] = n
    heads_at[n], states_at[n] = p, offset
    p, offset = p + 1 + bytes, offset + (b - bytes) / 8
    b = byte(record, p)
  end
  for i = 1, n do states_at[i] = states_at[i] + p + 1 end
  heads_at[n + 1], states_at[n + 1] = p, size + 1
end

local charges, takes, lists = {}, false, false
for i = 1, count do
  local k = byte(arg, at)
  local flags, head, n1, n2, n3, n4, n5, n6
  if k == 1 then
    flags, head, n1, n2, n3, at = unpack('<BBc0ddd', arg, at + 1)
  elseif k == 2 then
    flags, head, n1, n2, n3, n4, n5, n6, at = unpack('<BBc0dddddd', arg, at + 1)
  elseif k < 6 then
    flags, head, n1, n2, n3, n4, at = unpack('<BBc0dddd', arg, at + 1)
  elseif k == 6 then
    flags, head, n1, n2, n3, n4, at = unpack('<BBc0dddB', arg, at + 1)
  else
    flags, head, n1, n2, n3, n4, n5, at = unpack('<BBc0dddBc16', arg, at + 1)
  end

  local slot = slots[sub(head, 1, 4)]
  local text, s = record, slot  -- the state is at text[s]
  if flags % 4 >= 2 then
    local there, state, means
    there, state, means, at = unpack('<Bc0Bc0Bc0', arg, at)
    if not slot or sub(record, heads_at[slot] + 1, heads_at[slot + 1] - 1) ~= there or
        sub(record, states_at[slot], states_at[slot + 1] - 1) ~= state then
      return answer(-1)
    end
    text, s = means, 1
  elseif slot then
    s = states_at[slot]
    if sub(record, heads_at[slot] + 1, heads_at[slot + 1] - 1) ~= head then return answer(-1) end
  end

  local charge
  if k == 1 then
    local debt = s and unpack('<d', text, s) - now or 0
    if debt < 0 then debt = 0 end
    if debt > n3 then return answer(-1) end
    charge = {kind = k, head = head, slot = slot, limit = n1, cost = n2, a = debt}
  elseif k == 2 then
    local debt, rest = 0, 0
    if s then
      debt, rest = unpack('<dd', text, s)
      debt = debt - now
      if debt < 0 then debt, rest = 0, 0 end
    end
    if debt > n6 then return answer(-1) end
    charge = {kind = k, head = head, slot = slot, limit = n2, limit_rest = n3, cost = n4, cost_rest = n5, count = n1,
              a = debt, b = rest}
  elseif k == 3 then
    local own = now + n4
    local start, used = own, 0
    if s then start, used = unpack('<dd', text, s) end
    if used == 0 or start + n3 <= own then
      start, used = own - own % n3, 0
    elseif start - own > kJump then
      return answer(-1)
    end
    charge = {kind = k, head = head, slot = slot, limit = n1, cost = n2, a = start, b = used}
  elseif k == 4 then
    local own = now + n4
    local start, previous, current = own, 0, 0
    if s then start, previous, current = unpack('<ddd', text, s) end
    if own >= start + n3 then start, previous, current = start + n3, current, 0 end
    if own >= start + n3 then previous = 0 end
    if previous == 0 and current == 0 then start = own - own % n3 end
    if start - own > kJump then return answer(-1) end
    local left = own > start and n3 - (own - start) or n3
    charge = {kind = k, head = head, slot = slot, limit = n1, cost = n2, window = n3, a = start, b = previous,
              c = current, left = left}
  elseif k == 5 then
    local start, ends, used = n3, n4, 0
    if s then start, ends, used = unpack('<ddd', text, s) end
    if used == 0 or now >= ends then
      if now < n3 or now >= n4 then return answer(-2) end
      start, ends, used = n3, n4, 0
    elseif start - now > kJump then
      return answer(-1)
    end
    charge = {kind = k, head = head, slot = slot, limit = n1, cost = n2, a = start, b = ends, c = used}
  else
    lists = true
    charge = {kind = k, head = head, slot = slot, limit = n1, cost = n2, window = n3, list = KEYS[n4], id = n5, a = 0,
              b = 0}
    if k == 7 and s then charge.a, charge.b = unpack('<dd', text, s) end
  end
  charge.takes = flags % 2 == 1
  charge.keeps = flags >= 4
  takes = takes or charge.takes
  charges[i] = charge
end

local facts = {}
local append, lend
if lists then
  -- The entry of a log: its instant and the total up to it.
  local function entry(log, i) return unpack('<dd', call('GETRANGE', log, i * 16, i * 16 + 15)) end

  -- The first entry of low to high - 1 that is later than `instant`, or whose total is at least `total`; or high.
  local function find(log, low, high, instant, total)
    while low < high do
      local middle = math.floor((low + high) / 2)
      local when, sum = entry(log, middle)
      if instant and when > instant or total and sum >= total then high = middle else low = middle + 1 end
    end
    return low
  end

  -- All entries move with a clock that went back far.
  local function move(log, entries, shift)
    local moved = {}
    for i = 0, entries - 1 do
      local when, total = entry(log, i)
      moved[i + 1] = pack('<dd', when - shift, total)
    end
    call('SET', log, table.concat(moved), 'KEEPTTL')
  end

  local function look_log(charge)
    local log, window = charge.list, charge.window
    local entries = call('STRLEN', log) / 16
    charge.entries, charge.entered, charge.total, charge.begin = entries, now, 0, 1
    if entries == 0 then return pack('<ddddd', 0, 0, now, 0, 0) end
    local newest, total = entry(log, entries - 1)
    local shift = newest - now > kJump and newest - now or 0
    if shift > 0 and charge.takes then
      move(log, entries, shift)
      newest, shift = newest - shift, 0
    end
    local entered = math.max(now, newest - shift)
    local begin = find(log, 1, entries, entered - window + shift)
    local _, before = entry(log, begin - 1)
    local used = total - before
    local function end_of(units) return (entry(log, find(log, begin, entries, nil, before + units))) - shift + window end
    local first = used > 0 and end_of(math.max(1, used - charge.limit + 1)) or 0
    local over = used + charge.cost - charge.limit
    local blocked = over > 0 and charge.cost <= charge.limit and end_of(over) or 0
    charge.a, charge.entered, charge.total, charge.begin = used, entered, total, begin
    return pack('<ddddd', used, used > 0 and newest - shift or 0, entered, first, blocked)
  end

  function append(charge)
    local log, entries, begin = charge.list, charge.entries, charge.begin
    local after = pack('<dd', charge.entered, charge.total + charge.cost)
    if entries == 0 then
      call('SET', log, pack('<dd', 0, 0) .. after)
    elseif entries > 1 and (entry(log, entries - 1)) == charge.entered then
      call('SETRANGE', log, (entries - 1) * 16, after)
    else
      call('APPEND', log, after)
    end
    if begin > 64 and begin * 2 > entries then
      call('SET', log, call('GETRANGE', log, (begin - 1) * 16, -1))
    end
    call('PEXPIRE', log, math.max(10000, math.ceil(charge.window / 500)))
  end

  local function instant(x) return string.format('%.0f', x) end

  -- A lease that ends later than any can was made before the clock went back: it lasts from now.
  local function look_leases(charge)
    local set, lease = charge.list, charge.window
    local longest = math.max(charge.b, lease)
    local latest = now + longest + kJump
    local last = now
    local top = call('ZREVRANGE', set, 0, 0, 'WITHSCORES')
    if #top == 0 then charge.a = 0 end
    if #top > 0 and tonumber(top[2]) > latest then
      last = now + lease
      if charge.takes then
        for _, member in ipairs(call('ZRANGEBYSCORE', set, '(' .. instant(latest), '+inf')) do
          call('ZADD', set, 'XX', instant(last), member)
        end
      end
      top = call('ZREVRANGEBYSCORE', set, instant(latest), '-inf', 'WITHSCORES', 'LIMIT', 0, 1)
    end
    if #top > 0 then last = math.max(last, tonumber(top[2])) end
    charge.ended = call('ZRANGEBYSCORE', set, '-inf', instant(now))
    for _, member in ipairs(charge.ended) do charge.a = charge.a - unpack('<I4', member, 17) end
    local ends = call('ZSCORE', set, charge.id .. pack('<I4', charge.cost))
    charge.known = ends and tonumber(ends) > now
    charge.b = longest
    return pack('<ddd', charge.a, last, charge.known and 1 or 0)
  end

  -- Whether that changes the account.
  function lend(charge)
    for _, member in ipairs(charge.ended) do call('ZREM', charge.list, member) end
    if charge.known then return #charge.ended > 0 end
    call('ZADD', charge.list, instant(now + charge.window), charge.id .. pack('<I4', charge.cost))
    call('PEXPIRE', charge.list, math.max(10000, math.ceil(charge.b / 500)))
    charge.a = charge.a + charge.cost
    return true
  end

  for i = 1, count do
    if charges[i].kind == 6 then facts[#facts + 1] = look_log(charges[i]) end
    if charges[i].kind == 7 then facts[#facts + 1] = look_leases(charges[i]) end
  end
end

-- previous * left <= room * window where the products are above 2^53: compared as continued fractions.
local function is_at_most(a, b, x, y)  -- a/b <= x/y
  local sign = true
  while true do
    local ra, rx = math.fmod(a, b), math.fmod(x, y)
    local qa, qx = (a - ra) / b, (x - rx) / y
    if qa ~= qx then return (qa < qx) == sign end
    if ra == 0 then return sign or rx == 0 end
    if rx == 0 then return not sign end
    a, b, x, y, sign = b, ra, y, rx, not sign
  end
end

-- The debt of a bucket by fractions after a charge of it n times. In two parts, since products stay below 2^53 so.
local function debt_after(c, n)
  local low = n % 4096
  local part = (n - low) / 4096 * c.cost_rest
  local rest = part % c.count
  local whole = (part - rest) / c.count * 4096
  part = rest * 4096 + low * c.cost_rest + c.b
  rest = part % c.count
  return c.a + n * c.cost + whole + (part - rest) / c.count, rest
end

-- Whether a charge fits n times.
local function fits(c, n)
  local k, cost = c.kind, n * c.cost
  if k == 1 then return c.a + cost <= c.limit end
  if k == 2 then
    local whole, rest = debt_after(c, n)
    return whole < c.limit or whole == c.limit and rest <= c.limit_rest
  end
  if k == 3 then return c.b + cost <= c.limit end
  if k == 5 then return c.c + cost <= c.limit end
  if k > 5 then return c.known or cost <= c.limit - c.a end
  local room = c.limit - c.c - cost
  if room < 0 then return false end
  local faded, allowed = c.b * c.left, room * c.window
  if faded < 9007199254740992 and allowed < 9007199254740992 then return faded <= allowed end
  return is_at_most(c.b, c.window, room, c.left)
end

-- How often all charges fit, if not more often than `most`.
local function how_often(most)
  local fit = most
  for i = 1, count do
    local c = charges[i]
    if not fits(c, fit) then
      local low, high = 0, fit  -- it fits low times, and not high times
      while high - low > 1 do
        local middle = math.floor((low + high) / 2)
        if fits(c, middle) then low = middle else high = middle end
      end
      fit = low
    end
  end
  return fit
end

local granted = how_often(wanted)
if granted < wanted then
  for i = 1, count do charges[i].refuses = not fits(charges[i], granted + 1) end
elseif ARGV[3] then
  local ahead, parts = unpack('<I4I4', ARGV[3])
  granted = wanted + math.floor((how_often(wanted + ahead * parts) - wanted) / parts)
end
if takes then
  for i = 1, count do
    local c = charges[i]
    local k = c.kind
    if k == 1 then
      c.a = c.a + granted * c.cost
    elseif k == 2 then
      c.a, c.b = debt_after(c, granted)
    elseif k == 3 then
      c.b = c.b + granted * c.cost
    elseif k < 6 then
      c.c = c.c + granted * c.cost
    end
  end
end

local edits, fresh
for i = 1, count do
  local c = charges[i]
  local write = false
  if granted > 0 then write = c.takes else write = c.keeps and c.refuses and c.takes end
  if write and c.kind == 6 then
    append(c)
    write = not c.slot
  elseif write and c.kind == 7 then
    write = lend(c)
  end
  if write then
    local k = c.kind
    if k == 1 then
      c.state = pack('<d', now + c.a)
    elseif k == 2 then
      c.state = pack('<dd', now + c.a, c.b)
    elseif k == 3 or k == 7 then
      c.state = pack('<dd', c.a, c.b)
    elseif k == 6 then
      c.state = ''
    else
      c.state = pack('<ddd', c.a, c.b, c.c)
    end
    edits, fresh = edits or {}, fresh or {}
    if c.slot then edits[c.slot] = c else fresh[#fresh + 1] = c end
  end
end

if edits then
  local pieces, n, states = {pack('<I2', life)}, 1, {}
  local function add(c)
    n = n + 1
    pieces[n] = string.char(#c.head + #c.state * 8) .. c.head
    states[n - 1] = c.state
  end
  for i = 1, #heads_at - 1 do
    if edits[i] then
      add(edits[i])
    else
      n = n + 1
      pieces[n] = sub(record, heads_at[i], heads_at[i + 1] - 1)
      states[n - 1] = sub(record, states_at[i], states_at[i + 1] - 1)
    end
  end
  for i = 1, #fresh do add(fresh[i]) end
  local after = table.concat(pieces) .. '\0' .. table.concat(states)
  call('SETEX', key, (life % 2048) * 2 ^ math.floor(life / 2048), after)
end
return answer(granted) .. table.concat(facts)
