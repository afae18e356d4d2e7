# SPDX-License-Identifier: Apache-2.0
"""The text format of Prometheus, version 0.0.4, read strictly."""

import re

SAMPLE = re.compile(r"([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)(?: -?[0-9]+)?\Z")
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\\\|\\"|\\n)*)"(?:,|\Z)')


class Metrics:
    """Samples by family; `types` and `helps` by family name."""

    def __init__(self):
        self.samples = []  # (name, labels, value)
        self.types = {}
        self.helps = {}

    def value(self, name, **labels):
        """The only sample with (at least) these labels; 0 when there is none yet."""
        found = self.matching(name, **labels)
        assert len(found) <= 1, f"{name}{labels} is ambiguous: {found}"
        return found[0][2] if found else 0.0

    def total(self, name, **labels):
        return sum(value for _, _, value in self.matching(name, **labels))

    def matching(self, name, **labels):
        return [
            sample
            for sample in self.samples
            if sample[0] == name and all(sample[1].get(key) == value for key, value in labels.items())
        ]

    def label_values(self, name, label):
        return {labels.get(label) for _, labels, _ in self.matching(name)}


def parse_metrics(text):
    """Reads a whole exposition; anything out of format is an AssertionError."""
    metrics = Metrics()
    assert text.endswith("\n"), "the last line has no end"
    for line in text.split("\n")[:-1]:
        if line.startswith("# HELP "):
            name, _, words = line[7:].partition(" ")
            assert name not in metrics.helps, f"two HELP lines for {name}"
            metrics.helps[name] = words
        elif line.startswith("# TYPE "):
            name, _, kind = line[7:].partition(" ")
            assert name not in metrics.types, f"two TYPE lines for {name}"
            assert kind in ("counter", "gauge", "histogram", "summary", "untyped"), line
            metrics.types[name] = kind
        elif line and not line.startswith("#"):
            metrics.samples.append(parse_sample(line))
    seen = set()
    for name, labels, _ in metrics.samples:
        identity = (name, tuple(sorted(labels.items())))
        assert identity not in seen, f"the sample {identity} came twice"
        seen.add(identity)
    return metrics


def parse_sample(line):
    match = SAMPLE.match(line)
    assert match, f"not a sample: {line!r}"
    labels, text = {}, match[2] or ""
    while text:
        label = LABEL.match(text)
        assert label, f"not a label list: {line!r}"
        labels[label[1]] = label[2].replace('\\"', '"').replace("\\n", "\n").replace("\\\\", "\\")
        text = text[label.end() :]
    return match[1], labels, float(match[3])
