#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the pictures of docs/algorithms.md from what the algorithms themselves said.

    draw.py PROGRAM           asks PROGRAM (trace.cc), writes NAME.svg beside this file and the table of figures
    draw.py --check PROGRAM   compares instead; exits with 1 when something differs

The same figures always give the same bytes.
"""

import dataclasses
import json
import re
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
DOCUMENT = FOLDER.parent / "algorithms.md"
TABLE = re.compile(r"(<!-- table: scripts/pictures -->\n).*?(<!-- end of table -->)", re.DOTALL)

# As in trace.cc.
WINDOW = 4000  # ms: W and P
END = 12000  # ms
PLACES = 4  # of the concurrency limit

# Pixels.
WIDTH, LEFT, RIGHT = 760, 92, 740
TITLE, REFUSED, ADMITTED = 22, 48, 70  # baseline of the title, middles of the lanes
STARTED = ADMITTED + 44  # the lane of starts, in the picture of the queue
ROW = 15  # of a place

STYLE = """
.paper{fill:#fff}
text{font:12px system-ui,-apple-system,'Segoe UI','DejaVu Sans',sans-serif;fill:#1f2328}
.title{font-weight:600;font-size:13px}
.small{font-size:11px;fill:#59636e}
.axis{stroke:#8c959f;fill:none}
.edge{stroke:#8c959f;stroke-dasharray:2 3}
.wait{stroke:#8c959f;stroke-width:.9}
.yes{fill:#1a7f37}
.no{stroke:#cf222e;stroke-width:1.6;fill:none}
.limit{stroke:#1f2328;stroke-width:1.2}
.used{stroke:#0969da;stroke-width:1.7;fill:none}
.area{fill:#0969da;opacity:.12}
.last{stroke:#9a6700;stroke-width:1.5;stroke-dasharray:5 3;fill:none}
@media (prefers-color-scheme:dark){
.paper{fill:#0d1117} text{fill:#e6edf3} .small{fill:#9198a1}
.axis,.edge,.wait{stroke:#7d8590} .limit{stroke:#e6edf3}
.yes{fill:#3fb950} .no{stroke:#ff7b72} .last{stroke:#d29922}
.used{stroke:#58a6ff} .area{fill:#58a6ff;opacity:.2}
}
"""


@dataclasses.dataclass(frozen=True)
class Caption:
    """What a picture says beside its marks."""

    title: str
    story: str  # for those who cannot see it
    used: str = ""  # what the solid line is
    limit: int = 8  # above which it never goes
    edges: tuple[tuple[int, str], ...] = ()  # ms at which a window begins, and what is written in it
    recent: bool = True  # with the line of what was admitted in the last WINDOW


WINDOWS = ((0, "4 s"), (4000, "4 s"), (8000, "4 s"))
MONDAY = WINDOW * 47 // 24
DAYS = ((0, "24 hours"), (4000, "23 hours"), (MONDAY, "24 hours"))

CAPTIONS = {
    "token_bucket": Caption(
        "token_bucket: 8 per 4 s, burst 8",
        "A full bucket lets the first burst pass and a part of the next. Then one request passes each half second.",
        "taken from the bucket"),
    "fixed_window": Caption(
        "fixed_window: 8 per 4 s",
        "Each window admits its first eight requests, so sixteen pass within three seconds around the edge at 4 s.",
        "counted in this window", edges=WINDOWS),
    "sliding_window": Caption(
        "sliding_window: 8 per 4 s",
        "The count of the window before fades out, so behind an edge requests pass one by one.",
        "both windows, weighted", edges=WINDOWS),
    "sliding_log": Caption(
        "sliding_log: 8 per 4 s",
        "After the first eight nothing passes until these are four seconds old. No four seconds have more than eight.",
        "in the log"),
    "leaky_bucket": Caption(
        "leaky_bucket: 8 per 4 s, queue 6",
        "Requests wait in line and start half a second apart. Those that find six waiting are refused.",
        "in line, and the one whose turn it is", 7, recent=False),
    "concurrency": Caption(
        "concurrency: max 4, each request runs for 0.9 s",
        "Four requests run at the same time. Others are refused until one of the four ends."),
    "calendar": Caption(
        "calendar: 8 per day, Europe/Berlin, the clocks go forward on Sunday",
        "Each day admits its first eight requests. The second day has 23 hours, and the quota is new when it is over.",
        "counted on this day", edges=DAYS, recent=False),
}

SECONDS = tuple((second * 1000, f"{second} s") for second in range(END // 1000 + 1))
HOURS = tuple((WINDOW * elapsed / 24, label) for elapsed, label in (
    (0, "Sat 0:00"), (6, "6:00"), (12, "12:00"), (18, "18:00"), (24, "Sun 0:00"), (29, "6:00"), (35, "12:00"),
    (41, "18:00"), (47, "Mon 0:00"), (53, "6:00"), (59, "12:00"), (65, "18:00"), (71, "Tue 0:00")))


def x_of(ms):
    return round(LEFT + (RIGHT - LEFT) * ms / END, 1)


def line(kind, x1, y1, x2, y2):
    return f'<line class="{kind}" x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}"/>'


def text(x, y, words, kind="", anchor="start"):
    kind = f' class="{kind}"' if kind else ""
    anchor = f' text-anchor="{anchor}"' if anchor != "start" else ""
    return f'<text x="{x:g}" y="{y:g}"{kind}{anchor}>{words}</text>'


def path(kind, points, end=""):
    return f'<path class="{kind}" d="M{" ".join(f"{x:g},{y:g}" for x, y in points)}{end}"/>'


def discs(y, moments):
    return [f'<circle class="yes" cx="{x_of(ms):g}" cy="{y}" r="3.2"/>' for ms in moments]


def crosses(y, moments):
    strokes = (f"M{x_of(ms) - 3:g},{y - 3}l6,6m0,-6l-6,6" for ms in moments)
    return [f'<path class="no" d="{"".join(strokes)}"/>']


def admitted(picture):
    return [request["at"] for request in picture["requests"] if request["admitted"]]


def started(picture):
    return [request["at"] + request["delay"] for request in picture["requests"] if request["admitted"]]


def lanes(picture):
    refused = [request["at"] for request in picture["requests"] if not request["admitted"]]
    return [text(LEFT - 10, REFUSED + 4, "refused", anchor="end"), *crosses(REFUSED, refused),
            text(LEFT - 10, ADMITTED + 4, "admitted", anchor="end"), *discs(ADMITTED, admitted(picture))]


def waits(picture):
    """Lines from the arrival of each request to its start."""
    ways = [(at, start) for at, start in zip(admitted(picture), started(picture)) if start <= END]
    return [*(line("wait", x_of(at), ADMITTED, x_of(start), STARTED) for at, start in ways),
            text(LEFT - 10, STARTED + 4, "started", anchor="end"), *discs(STARTED, [start for _, start in ways])]


def places(picture, top):
    """A row for each place, a bar for each request that holds it."""
    free_at = [0] * PLACES
    marks = [text(LEFT - 10, top + ROW * place + 11, f"place {place + 1}", anchor="end") for place in range(PLACES)]
    for request in picture["requests"]:
        if request["admitted"]:
            place = next(place for place in range(PLACES) if free_at[place] <= request["at"])
            free_at[place] = request["at"] + request["runs"]
            left, right = x_of(request["at"]), x_of(min(free_at[place], END))
            marks.append(f'<rect class="yes" x="{left:g}" y="{top + ROW * place + 2}" width="{right - left - 1:.1f}" '
                         f'height="{ROW - 4}" rx="2"/>')
    return marks


def without_needless(points):
    """Leaves out points on the straight line between their neighbours, to a quarter of a pixel."""
    kept = points[:1]
    for (x, y), (x2, y2) in zip(points[1:], points[2:]):
        x0, y0 = kept[-1]
        straight = y0 + (y2 - y0) * (x - x0) / (x2 - x0) if x2 > x0 else y0
        if abs(straight - y) > 0.25:
            kept.append((x, y))
    return kept + points[-1:]


def recent(moments):
    """(ms, how many of the moments lie in the last WINDOW) wherever that changes."""
    changes = sorted({0, END, *moments, *(ms + WINDOW for ms in moments if ms + WINDOW < END)})
    return [(at, sum(at - WINDOW < ms <= at for ms in moments)) for at in changes]


class Plot:
    """What the algorithm counts, below its limit, and what it admitted recently."""

    def __init__(self, picture, caption, top):
        self.picture, self.caption, self.top = picture, caption, top
        self.scale = 6.4 if caption.recent else 9
        rows = 18 if caption.recent else caption.limit + (3 if caption.edges else 1)
        self.bottom = round(top + self.scale * rows)

    def y_of(self, requests):
        return round(self.bottom - requests * self.scale, 1)

    def windows(self):
        starts = [ms for ms, _ in self.caption.edges]
        for (start, name), end in zip(self.caption.edges, [*starts[1:], END]):
            if start > 0:
                yield line("edge", x_of(start), REFUSED - 12, x_of(start), self.bottom)
            yield text(x_of(end) - 6, self.top + 8, name, "small", "end")

    def used(self):
        points = without_needless([(x_of(ms), self.y_of(used)) for ms, used in self.picture["used"]])
        zero = self.y_of(0)
        return [path("area", [*points, (RIGHT, zero), (LEFT, zero)], "Z"), path("used", points)]

    def recent(self):
        steps = recent(admitted(self.picture))
        points = [(LEFT, self.y_of(0))]
        for at, count in steps:
            points += [(x_of(at), points[-1][1]), (x_of(at), self.y_of(count))]
        at, most = max(steps, key=lambda step: (step[1], -step[0]))
        return [path("last", points), text(x_of(at), self.y_of(most) - 6, f"{most} in 4 s", "small")]

    def marks(self):
        limit = self.y_of(self.caption.limit)
        return [*self.windows(), *self.used(), line("limit", LEFT, limit, RIGHT, limit),
                *(self.recent() if self.caption.recent else []),
                text(LEFT - 10, self.y_of(0) + 4, "0", "small", "end"),
                text(LEFT - 10, limit + 4, str(self.caption.limit), "small", "end")]


def axis(y, labels):
    marks = [line("axis", LEFT, y, RIGHT, y)]
    for ms, label in labels:
        marks += [line("axis", x_of(ms), y, x_of(ms), y + 4), text(x_of(ms), y + 17, label, "small", "middle")]
    return marks


def legend(y, caption):
    entries = [("limit", "limit"), ("used", caption.used)]
    if caption.recent:
        entries.append(("last", "admitted in the last 4 s"))
    marks, x = [], LEFT
    for kind, words in entries:
        marks += [line(kind, x, y - 4, x + 22, y - 4), text(x + 28, y, words, "small")]
        x += 50 + round(6.2 * len(words))
    return marks


def svg(caption, height, marks):
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        'role="img">',
        f"<title>{caption.title}</title>", f"<desc>{caption.story}</desc>", f"<style>{STYLE}</style>",
        f'<rect class="paper" width="{WIDTH}" height="{height}" rx="6"/>', text(LEFT, TITLE, caption.title, "title"),
        *marks, "</svg>", ""])


def draw(picture):
    name, caption = picture["name"], CAPTIONS[picture["name"]]
    if name == "concurrency":
        top = ADMITTED + 16
        bottom = top + ROW * PLACES + 4
        return svg(caption, bottom + 26, [*lanes(picture), *places(picture, top), *axis(bottom, SECONDS)])
    queue = name == "leaky_bucket"
    plot = Plot(picture, caption, (STARTED if queue else ADMITTED) + 18)
    return svg(caption, plot.bottom + 48, [
        *(waits(picture) if queue else []), *lanes(picture), *plot.marks(),
        *axis(plot.bottom, HOURS if name == "calendar" else SECONDS), *legend(plot.bottom + 38, caption)])


def table(figures):
    rows = ["| algorithm | admitted | most in 4 s | longest wait |", "|---|---|---|---|"]
    for picture in figures:
        starts = started(picture)
        most = max(count for _, count in recent(starts))
        wait = max(request["delay"] for request in picture["requests"])
        rows.append(f"| `{picture['name']}` | {len(starts)} of {len(picture['requests'])} | {most} | "
                    f"{f'{wait / 1000:g} s' if wait else 'none'} |")
    return "\n".join([*rows, ""])


def files_of(figures):
    """Path -> text of all that is made from the figures."""
    document, tables = TABLE.subn(rf"\1\n{table(figures)}\n\2", DOCUMENT.read_text(encoding="utf-8"))
    if tables != 1:
        sys.exit(f"{DOCUMENT} has no place for the table of figures")
    return {DOCUMENT: document} | {FOLDER / f"{picture['name']}.svg": draw(picture) for picture in figures}


def main(arguments):
    check = arguments[:1] == ["--check"]
    program = arguments[1:] if check else arguments
    if len(program) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    files = files_of(json.loads(subprocess.run(program, stdout=subprocess.PIPE, check=True).stdout))
    if not check:
        for path, made in files.items():
            path.write_text(made, encoding="utf-8")
        return 0
    stored = {path: path.read_text(encoding="utf-8") for path in [DOCUMENT, *FOLDER.glob("*.svg")]}
    stale = sorted(path for path in stored | files if stored.get(path) != files.get(path))
    for path in stale:
        print(f"{path.name} is not what the algorithms say now: run scripts/pictures")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
