# SPDX-License-Identifier: Apache-2.0
"""What redis_gateway.py has measured: rows, targets, and the tables of both. A part of redis_report.py.

Every line is one run: {"scenario", "store", "round"} and the figures. A run that was invalid is not there, and its round
is left out of the ratios.
"""

from statistics import median

MANY = "10,000 API keys in turn"
BUSY = "one API key"
FLOOD = "refused, one API key"
FLOODS = "refused, 1,000 API keys in turn"
MEMORY = "memory"
REDIS = "Redis"
LEASES = "Redis, leases"

# (scenario, store, at least so many times the requests per second of the memory store)
THROUGHPUT_TARGETS = ((MANY, REDIS, 0.60), (BUSY, REDIS, 0.60), (BUSY, LEASES, 0.90))
CALLS_TARGET = 0.01  # of a refusal
DISTURBED = 0.05  # of the time the gateway waited for its CPU, so somebody else was on it


def by_cell(lines):
    """{(scenario, store): {round: run}}"""
    found = {}
    for line in lines:
        if "scenario" in line:
            found.setdefault((line["scenario"], line["store"]), {})[line["round"]] = line
    return found


def times_memory(cells, scenario, store, figure):
    """The median over the rounds, each with its own two runs; absent where one was not measured."""
    ours, memory = cells.get((scenario, store), {}), cells.get((scenario, MEMORY), {})
    ratios = [ours[number][figure] / memory[number][figure] for number in ours.keys() & memory.keys()]
    return median(ratios) if ratios else None


def rows(lines):
    cells = by_cell(lines)
    found = []
    for (scenario, store), by_round in cells.items():
        runs = list(by_round.values())
        row = {"scenario": scenario, "store": store, "runs": len(runs)}
        row |= {name: median(run[name] for run in runs) for name, value in runs[0].items() if isinstance(value, float)}
        rates = [run["requests_per_second"] for run in runs]
        row |= {"requests_per_second_least": min(rates), "requests_per_second_most": max(rates),
                "throughput_times_memory": times_memory(cells, scenario, store, "requests_per_second"),
                "cpu_times_memory": times_memory(cells, scenario, store, "cpu_us")}
        found.append(row)
    return found


def targets(found):
    """What was promised beside what was found in rows()."""
    by_name = {(row["scenario"], row["store"]): row for row in found}
    lines = [{"what": f"{scenario}: requests/s, {store} / {MEMORY}", "at_least": least,
              "found": by_name.get((scenario, store), {}).get("throughput_times_memory")}
             for scenario, store, least in THROUGHPUT_TARGETS]
    lines.append({"what": f"{FLOOD}: calls of Redis per refusal", "at_most": CALLS_TARGET,
                  "found": by_name.get((FLOOD, REDIS), {}).get("calls_per_request")})
    return lines


def _number(row, name, places):
    value = row.get(name)
    return "" if value is None else f"{value:,.{places}f}"


def _percent(row, name):
    return f"{100 * row[name]:.0f}%" if name in row else ""


def print_rows(found):
    print("\n| scenario | counted in | requests/s | (least-most) | / memory | gateway CPU µs | / memory | Redis CPU µs "
          "| calls per request | p50 µs | p99 µs | gateway core | Redis core |")
    print("|---|---|" + "--:|" * 11)
    for row in found:
        spread = f'{row["requests_per_second_least"]:,.0f}-{row["requests_per_second_most"]:,.0f}'
        disturbed = " (disturbed)" if row["waiting_share"] > DISTURBED else ""
        cells = [row["scenario"], row["store"] + disturbed, _number(row, "requests_per_second", 0), spread,
                 _number(row, "throughput_times_memory", 2), _number(row, "cpu_us", 2), _number(row, "cpu_times_memory", 2),
                 _number(row, "redis_us", 3), _number(row, "calls_per_request", 5), _number(row, "p50_us", 0),
                 _number(row, "p99_us", 0), _percent(row, "proxy_share"), _percent(row, "redis_share")]
        print(f'| {" | ".join(cells)} |')


def print_targets(lines):
    print("\n| target | | found |")
    print("|---|--:|--:|")
    for line in lines:
        bound = f'≥ {line["at_least"]:g}' if "at_least" in line else f'≤ {line["at_most"]:g}'
        print(f'| {line["what"]} | {bound} | {_number(line, "found", 5 if "at_most" in line else 2)} |')
