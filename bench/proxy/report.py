# SPDX-License-Identifier: Apache-2.0
"""From samples to medians, ratios, targets, and the tables that are printed."""

from statistics import median

COLUMNS = ["cpu_us", "requests_per_second", "p50_us", "p99_us", "proxy_share", "generator_share", "load_core_share",
           "waiting_share"]

# (scenario, connections, peer, weir's CPU per request at most so many times the peer's)
RATIO_TARGETS = [
    ("proxied", 8, "nginx", 0.85),
    ("proxied", 64, "nginx", 0.70),
    ("proxied", 64, "haproxy", 0.62),
    ("proxied", 256, "nginx", 0.85),
    ("refused", 64, "nginx", 0.80),
    ("refused", 64, "haproxy", 0.60),
]
CALLS_TARGET = 4.3  # two receives, two sends, and a share of the wait for events
IDLE_TARGET = 4096  # bytes

DISTURBED = 0.05  # of the time the proxy waited for its CPU, so somebody else was on it


def summarise(samples):
    """{(scenario, connections): {proxy: [sample, ...]}} -> one row for each proxy, in order.

    A sample is None where the run was invalid, so that samples of one round keep the same index.
    """
    rows = []
    for (scenario, connections), by_proxy in samples.items():
        for proxy, all_runs in by_proxy.items():
            runs = [run for run in all_runs if run]
            if not runs:
                continue
            row = {"scenario": scenario, "connections": connections, "proxy": proxy, "runs": len(runs)}
            row |= {column: median(run[column] for run in runs) for column in COLUMNS}
            row["cpu_us_least"] = min(run["cpu_us"] for run in runs)
            row["cpu_us_most"] = max(run["cpu_us"] for run in runs)
            row["load_bound"] = 2 * sum(run["load_bound"] for run in runs) > len(runs)
            rows.append(row)
    return rows


def ratios(samples):
    """Medians over the rounds of weir's CPU per request divided by that of the peer's run beside it."""
    found = []
    for (scenario, connections), by_proxy in samples.items():
        for peer in ("nginx", "haproxy"):
            pairs = [(ours["cpu_us"], theirs["cpu_us"])
                     for ours, theirs in zip(by_proxy.get("weir", []), by_proxy.get(peer, [])) if ours and theirs]
            if pairs:
                each = [ours / theirs for ours, theirs in pairs]
                found.append({"scenario": scenario, "connections": connections, "peer": peer,
                              "ratio": median(each), "least": min(each), "most": max(each)})
    return found


def targets(found_ratios, calls, idle):
    """What was promised beside what was found; found and passed are None where nothing was measured."""
    by_cell = {(r["scenario"], r["connections"], r["peer"]): r["ratio"] for r in found_ratios}
    lines = [_target(f"{scenario}, {connections} connections: CPU per request, weir / {peer}", limit,
                     by_cell.get((scenario, connections, peer)))
             for scenario, connections, peer, limit in RATIO_TARGETS]
    lines.append(_target("proxied: system calls per request", CALLS_TARGET, calls.get(("proxied", "weir"))))
    lines.append(_target("idle connection: bytes of user memory", IDLE_TARGET,
                         idle["bytes_per_connection"] if idle else None))
    return lines


def _target(what, limit, found):
    return {"what": what, "at_most": limit, "found": found, "passed": None if found is None else found <= limit}


def text(result):
    calls = {(c["scenario"], c["proxy"]): c["per_request"] for c in result["system_calls"]}
    by_cell = {(r["scenario"], r["connections"], r["peer"]): r["ratio"] for r in result["ratios"]}
    table = [["scenario", "conn.", "proxy", "CPU µs/request", "(least-most)", "requests/s", "p50 µs", "p99 µs",
              "proxy core", "load core", "generator", "calls/request", "weir / this", "notes"]]
    for row in result["rows"]:
        cell = (row["scenario"], row["connections"], row["proxy"])
        called = calls.get((row["scenario"], row["proxy"])) if row["connections"] == result["calls_at"] else None
        table.append([
            row["scenario"], row["connections"], row["proxy"], f"{row['cpu_us']:.2f}",
            f"{row['cpu_us_least']:.2f}-{row['cpu_us_most']:.2f}", f"{row['requests_per_second']:.0f}",
            f"{row['p50_us']:.0f}", f"{row['p99_us']:.0f}", _percent(row["proxy_share"]),
            _percent(row["load_core_share"]), _percent(row["generator_share"]), _number(called),
            _number(by_cell.get(cell)), _notes(row)])
    checks = [["target", "at most", "found", ""]]
    for line in result["targets"]:
        verdict = {None: "not measured", True: "pass", False: "MISS"}[line["passed"]]
        checks.append([line["what"], f"{line['at_most']:g}", _number(line["found"]), verdict])
    machine = [f"{name}: {value}" for name, value in result["machine"].items()]
    invalid = [f"INVALID: {reason}" for reason in result["invalid"]]
    return "\n".join([*machine, "", *_aligned(table, 3), "", *_aligned(checks, 1), *invalid])


def _notes(row):
    notes = []
    if row["proxy"] == "direct":
        notes.append("no proxy: the load core's ceiling")
    elif row["load_bound"]:
        notes.append("bound by the load core: compare CPU only")
    if row["waiting_share"] > DISTURBED:
        notes.append(f"disturbed: waited {_percent(row['waiting_share'])} for its CPU")
    return "; ".join(notes)


def _percent(share):
    return f"{100 * share:.0f}%"


def _number(value):
    return "" if value is None else f"{value:.2f}" if value < 100 else f"{value:.0f}"


def _aligned(table, words):
    """Columns of equal width; the first `words` and the last are text, the others are figures."""
    cells = [[str(cell) for cell in row] for row in table]
    widths = [max(map(len, column)) for column in zip(*cells)]
    last = len(widths) - 1
    return ["  ".join(cell.ljust(width) if i < words or i == last else cell.rjust(width)
                      for i, (cell, width) in enumerate(zip(row, widths))).rstrip() for row in cells]
