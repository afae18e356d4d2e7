// SPDX-License-Identifier: Apache-2.0
//
// Two limits per account with rate-limiter-flexible in memory: the counterpart of bench/decide.cc. One JSON line per
// case, times are processor time. Run it with --expose-gc and NODE_PATH naming the folder that has the package.
//
// Unlike weir, the two limits are not one atomic step, and the limiter reads the clock for each.
'use strict';
const { RateLimiterMemory } = require('rate-limiter-flexible');

const visits = 1 << 18;
const repetitions = 5;

function limiters() {
  return {
    perMinute: new RateLimiterMemory({ keyPrefix: 'm', points: 1e9, duration: 60 }),
    perHour: new RateLimiterMemory({ keyPrefix: 'h', points: 3e9, duration: 3600 }),
  };
}

async function decide({ perMinute, perHour }, name) {
  await perMinute.consume(name);
  await perHour.consume(name);
}

// A random order that is the same in every run (xorshift32).
function orderOf(names) {
  let state = 2463534242;
  return Array.from({ length: visits }, () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return names[(state >>> 0) % names.length];
  });
}

function heap() {
  global.gc();
  return process.memoryUsage().heapUsed;
}

async function measure(limits, order) {
  const begin = process.cpuUsage();
  for (const name of order) await decide(limits, name);
  const used = process.cpuUsage(begin); // microseconds
  return ((used.user + used.system) * 1000) / order.length;
}

async function run(accounts) {
  const names = Array.from({ length: accounts }, (_, i) => `partner-${i}`);
  const order = orderOf(names);
  const before = heap();
  const limits = limiters();
  for (const name of names) await decide(limits, name);
  const bytes = (heap() - before) / accounts;
  const times = [];
  for (let i = 0; i < repetitions; i++) times.push(await measure(limits, order));
  times.sort((a, b) => a - b);
  const ns = times[repetitions >> 1];
  console.log(
    JSON.stringify({
      limiter: 'rate-limiter-flexible',
      accounts,
      threads: 1,
      ns: Math.round(ns * 10) / 10,
      bytes_per_account: Math.round(bytes),
    }),
  );
}

async function main() {
  for (const accounts of [1, 10_000, 1_000_000]) await run(accounts);
  process.exit(0); // the limiters' timers would keep it for an hour
}

main();
