// SPDX-License-Identifier: Apache-2.0
//
// Two limits per account with golang.org/x/time/rate in a sync.Map: the counterpart of bench/decide.cc. The clock is
// read once, outside of the loop. One JSON line per case; times are processor time, so that a busy machine matters less.
//
// Unlike weir, the two limits are not one atomic step, and an account is never forgotten.
package main

import (
	"fmt"
	"math/rand"
	"runtime"
	"sort"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/time/rate"
)

const (
	visits      = 1 << 18
	repetitions = 5
)

type account struct {
	perMinute, perHour *rate.Limiter
}

func newAccount() *account {
	return &account{
		perMinute: rate.NewLimiter(rate.Limit(1e9/60.0), 1e9),
		perHour:   rate.NewLimiter(rate.Limit(3e9/3600.0), 3e9),
	}
}

func decide(accounts *sync.Map, name string, now time.Time) bool {
	found, ok := accounts.Load(name)
	if !ok {
		found, _ = accounts.LoadOrStore(name, newAccount())
	}
	a := found.(*account)
	return a.perMinute.AllowN(now, 1) && a.perHour.AllowN(now, 1)
}

func heap() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

func median(values []float64) float64 {
	sort.Float64s(values)
	return values[len(values)/2]
}

// Processor time of the process, the garbage collector's included.
func processorTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// Nanoseconds per decision of `threads` goroutines at once.
func measure(accounts *sync.Map, order []string, threads int) float64 {
	var group sync.WaitGroup
	start := time.Now()
	begin := processorTime()
	for t := 0; t < threads; t++ {
		group.Add(1)
		go func(first int) {
			defer group.Done()
			now := start
			for i := range order {
				now = now.Add(time.Microsecond)
				decide(accounts, order[(first+i)%len(order)], now)
			}
		}(t * len(order) / 2)
	}
	group.Wait()
	return float64((processorTime() - begin).Nanoseconds()) / float64(threads*len(order))
}

func run(count int) {
	names := make([]string, count)
	for i := range names {
		names[i] = "partner-" + strconv.Itoa(i)
	}
	random := rand.New(rand.NewSource(1))
	order := make([]string, visits)
	for i := range order {
		order[i] = names[random.Intn(count)]
	}

	before := heap()
	accounts := &sync.Map{}
	now := time.Now()
	for _, name := range names {
		decide(accounts, name, now)
	}
	measure(accounts, order, 1) // settles the map
	bytes := float64(heap()-before) / float64(count)
	for _, threads := range []int{1, 2} {
		var times []float64
		for i := 0; i < repetitions; i++ {
			times = append(times, measure(accounts, order, threads))
		}
		fmt.Printf(`{"limiter":"x/time/rate","accounts":%d,"threads":%d,"ns":%.1f,"bytes_per_account":%.0f}`+"\n",
			count, threads, median(times), bytes)
	}
}

func main() {
	for _, count := range []int{1, 10_000, 1_000_000} {
		run(count)
	}
}
