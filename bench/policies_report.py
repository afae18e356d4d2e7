# SPDX-License-Identifier: Apache-2.0
"""The lines of bench_policies as a table."""

import json
import sys

WORDS = {"hit": "a partner that is known, of {partners:,}", "key": "an API key that is known, of {partners:,}",
         "miss": "{database}, {partners:,} partners"}


def row(line):
    name = WORDS[line["what"]].format(**line)
    if line["what"] == "miss":
        return f"{name:<48} {line['records']:>10,.0f} records/s {line['queries']:>8,.0f} queries/s"
    memory = f"{line['bytes']:>8,.0f} bytes each" if "bytes" in line else ""
    return f"{name:<48} {line['ns']:>10,.1f} ns {memory}"


def main():
    for line in sys.stdin:
        print(row(json.loads(line)))


if __name__ == "__main__":
    main()
