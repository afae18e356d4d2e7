// SPDX-License-Identifier: Apache-2.0
//
// Two limits per account with rate-limiter-flexible and ioredis: the counterpart of bench/redis.cc, one JSON line of the
// same kind. Needs NODE_PATH naming the folder that has the packages.
//
//   node decide.js UNIX_SOCKET DEPTH
//
// Unlike weir, the two limits are not one atomic step, and each is a script call of its own. So many decisions are made
// at a time, each with one consume() on its way.
'use strict';
const Redis = require('ioredis');
const { RateLimiterRedis } = require('rate-limiter-flexible');

const accounts = 10_000;
// What is sent within one turn of the event loop goes out at once: without it every command is a write of its own, and
// the server is woken more often.
const client = new Redis({ path: process.argv[2], enableAutoPipelining: true, retryStrategy: () => null });
const limits = [
  new RateLimiterRedis({ storeClient: client, keyPrefix: 'm', points: 1e9, duration: 60 }),
  new RateLimiterRedis({ storeClient: client, keyPrefix: 'h', points: 3e9, duration: 3600 }),
];

async function serverSeconds() {
  const info = await client.info('cpu');
  const told = (name) => Number(info.match(new RegExp(`^used_cpu_${name}_main_thread:(.*)`, 'm'))[1]);
  return told('sys') + told('user');
}

async function decide(names, count, depth) {
  let next = 0;
  const one = async () => {
    while (next < count) {
      const name = names[next++ % names.length];
      for (const limit of limits) await limit.consume(name);
    }
  };
  await Promise.all(Array.from({ length: depth }, one));
}

// Without sleep, as bench/redis.cc: to wake this process is no part of the cost. Only once all is warm: at a real-time
// priority, a process that polls from its start may never get there.
function poll() {
  setImmediate(poll);
}

async function main(depth) {
  const names = Array.from({ length: accounts }, (_, i) => `{partner-${String(i).padStart(6, '0')},ORDERS}`);
  const count = depth === 1 ? accounts / 4 : accounts;
  await client.flushall();
  await decide(names, accounts, 64);
  poll();
  const before = await serverSeconds();
  const began = process.hrtime.bigint();
  await decide(names, count, depth);
  const seconds = Number(process.hrtime.bigint() - began) / 1e9;
  const cost = (await serverSeconds()) - before;
  console.log(
    JSON.stringify({
      contender: 'rate-limiter-flexible',
      depth,
      us: Math.round((cost / count) * 1e9) / 1e3,
      per_second: Math.round(count / seconds),
    }),
  );
  process.exit(0);
}

main(Number(process.argv[3]));
