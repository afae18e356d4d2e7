#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the shape of the source tree: which folder may include which, which file may name what, and sizes.

    checks/architecture.py [ROOT]

Prints one line per fault, `file:line: [rule] message`, and exits with 1 when there is one; long headers are told, but
are no faults. Comments and string literals are not looked at. Exceptions stand in EXCEPTIONS, which may only shrink: an
entry that is no longer needed is a fault too.
"""

import dataclasses
import fnmatch
import re
import sys
from pathlib import Path

# Arrows go one way. A folder under src/weir may include itself and the folders named here. What is below a folder
# belongs to it, unless it is named itself.
MAY_INCLUDE = {
    "base": set(),
    "jose": {"base"},
    "config": {"base", "jose"},
    "io": {"base"},
    "redis": {"base", "io"},
    "http": {"base"},
    "limit": {"base"},
    "route": {"base", "jose", "config"},
    "identity": {"base", "jose", "config", "http"},
    "sql": {"base"},
    "partners": {"base", "jose", "config", "sql"},
    "store": {"base", "limit"},
    "store/redis": {"base", "io", "redis", "limit", "store"},
    "policy": {"base", "jose", "config", "io", "redis", "http", "limit", "route", "identity", "sql", "partners",
               "store", "store/redis"},
    "accounts": {"base", "jose", "config", "io", "redis", "http", "limit", "route", "identity", "sql", "partners",
                 "store", "store/redis", "policy"},
    "lookup": {"base", "jose", "config", "io", "redis", "http", "limit", "route", "identity", "sql", "partners",
               "store", "store/redis", "policy"},
    "decide": {"base", "jose", "config", "io", "redis", "http", "limit", "route", "identity", "sql", "partners",
               "store", "store/redis", "policy"},
    "server": {"base", "io", "http"},
    "gateway": {"base", "jose", "config", "io", "redis", "http", "limit", "route", "identity", "sql", "partners",
                "store", "store/redis", "policy", "accounts", "lookup", "decide", "server"},
    "admin": {"base", "jose", "config", "io", "redis", "http", "limit", "route", "identity", "sql", "partners", "store",
              "store/redis", "policy", "accounts", "server"},
    "explain": {"base", "jose", "config", "io", "redis", "http", "limit", "route", "identity", "sql", "partners",
                "store", "store/redis", "policy", "accounts", "lookup", "decide", "server", "gateway"},
    "app": {"base", "jose", "config", "io", "redis", "http", "limit", "route", "identity", "sql", "partners", "store",
            "store/redis", "policy", "lookup", "decide", "server", "gateway", "admin", "accounts", "explain"},
}

# limit/ and store/ are installed as a library of their own. Of base/ they get what links nothing: weir_core.
CORE = {"base/result.h", "base/fingerprint.h", "base/spin_lock.h"}
LIBRARY = {"limit", "store"}


@dataclasses.dataclass(frozen=True)
class Vocabulary:
    """Words that only some files may use. `where` are patterns of paths under src/weir; none: nobody."""

    rule: str
    words: str  # regular expression over code
    where: tuple[str, ...]
    why: str


@dataclasses.dataclass(frozen=True)
class Inclusion:
    """System headers that only some files may include."""

    rule: str
    headers: str  # regular expression over the header's name
    where: tuple[str, ...]
    why: str


# Tests and what only they include.
TESTS = ("*_test.cc", "*_for_test.h", "*/testing/*", "*/contract/*")

VOCABULARY = (
    Vocabulary("clock",
               r"\bSystemClock\b|\bclock_gettime\b|\bgettimeofday\b|\b(system|steady|high_resolution)_clock\b",
               ("base/clock.h", "base/clock.cc", "app/*", "io/*_test.cc", "server/*_test.cc", "admin/*_test.cc",
                "gateway/*_test.cc", "store/redis/testing/*"),
               "code that decides takes `now`; only app/ holds the real clock"),
    Vocabulary("sleep", r"\bthis_thread::sleep_(for|until)\b|\b(u|nano)sleep\s*\(|(?<!\w)::sleep\s*\(", (),
               "an event loop never sleeps, and a test waits for what it wants to see"),
    Vocabulary("epoll", r"\bepoll_\w+", ("io/*",), "only io/ knows how readiness is found"),
    Vocabulary("environment", r"\b(secure_)?getenv\b|\benviron\b", ("app/*", *TESTS),
               "only app/ reads the environment"),
    Vocabulary("throw", r"\bthrow\b(?!\s+std::bad_alloc\b)", TESTS, "errors are values (base/result.h)"),
)

INCLUSIONS = (
    Inclusion("sockets", r"(sys/(epoll|socket|eventfd|timerfd|un|uio|signalfd)|netinet/.*|arpa/inet|netdb)\.h",
              ("io/*", "base/ip.cc", *TESTS), "only io/ touches sockets"),
    Inclusion("io_uring", r"liburing\.h", ("io/transfer_batch.cc",), "only io/ knows how bytes are moved"),
    Inclusion("hiredis", r"hiredis/.*", ("redis/*",), "only redis/ knows the protocol"),
    Inclusion("sqlite", r"sqlite3\.h", ("sql/sqlite.cc",), "only sql/ knows databases"),
    Inclusion("mariadb", r"(mariadb/)?(mysql|mysqld_error|errmsg)\.h", ("sql/mariadb*",),
              "only sql/ knows databases"),
    Inclusion("yaml", r"yaml-cpp/.*", ("config/*",), "only config/ reads YAML"),
    Inclusion("time zones", r"cctz/.*", ("limit/civil_calendar.cc", "config/*", *TESTS), "civil time has one home"),
    Inclusion("json", r"nlohmann/.*",
              ("accounts/*", "config/*", "explain/*", "partners/*", "lookup/record_text.cc", "admin/*", "app/*", *TESTS),
              "JSON is parsed at the edges only"),
    Inclusion("tokens", r"jansson\.h|jose/.*", ("jose/*", "identity/token_claims.*", *TESTS),
              "only jose/ knows how keys and tokens are written"),
    Inclusion("curl", r"curl/.*", ("io/curl_client.cc",), "only io/ touches sockets"),
    Inclusion("spdlog", r"spdlog/.*", ("base/*",), "everybody else logs through base/log.h"),
    Inclusion("prometheus", r"prometheus/.*", ("*/metrics.*", "admin/*", *TESTS), "counting needs base/counter.h only"),
    Inclusion("openssl", r"openssl/.*", ("base/*", "jose/*", "io/*", "redis/*", "admin/*", "lookup/*", "partners/*"),
              "cryptography has few homes"),
    Inclusion("command line", r"CLI/.*", ("app/*",), "only app/ reads the command line"),
    Inclusion("oracles", r"boost/.*", TESTS, "Boost is an oracle in tests, never a part"),
    Inclusion("tests", r"g(test|mock)/.*", TESTS, "the product has no test code"),
    Inclusion("benchmarks", r"benchmark/.*", (), "benchmarks live in bench/"),
)

FILE_LINES = 600
HEADER_LINES = 150
FUNCTION_LINES = 60
NOTES = {"header size"}

# (rule, path under src/weir): why it has to be so. May only shrink.
EXCEPTIONS = {
    ("throw", "config/yaml.cc"): "carries a fault out of the YAML parser's callbacks; caught in the same file",
}

LITERAL = re.compile(
    r'//(?:\\\n|[^\n])*'                       # line comment
    r'|/\*.*?\*/'                              # block comment
    r'|R"(?P<mark>[^()\s\\]{0,16})\(.*?\)(?P=mark)"'  # raw string
    r'|"(?:\\.|[^"\\\n])*"'                    # string
    r"|(?<![0-9A-Za-z_])'(?:\\.|[^'\\\n])+'",  # character, not a digit separator
    re.DOTALL)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)', re.MULTILINE)


@dataclasses.dataclass(frozen=True)
class Fault:
    path: str  # under src/weir
    line: int
    rule: str
    message: str


def blank(match):
    """Whitespace of the same shape, so that positions and line numbers stay."""
    return re.sub(r"[^\n]", " ", match.group())


def code_of(text):
    return LITERAL.sub(blank, text)


def without_comments(text):
    return LITERAL.sub(lambda match: blank(match) if match.group().startswith("/") else match.group(), text)


def line_at(text, position):
    return text.count("\n", 0, position) + 1


def is_among(path, patterns):
    return any(fnmatch.fnmatchcase(path, pattern) for pattern in patterns)


def folder_of(path, may_include):
    parts = path.split("/")[:-1]
    below = "/".join(parts[:2])
    return below if below in may_include else parts[0] if parts else path


def check_weir_include(path, line, target, files, may_include):
    own, other = (folder_of(one, may_include) for one in (path, target.removeprefix("weir/")))
    if target.removeprefix("weir/") not in files:
        yield Fault(path, line, "include", f'"{target}" does not exist')
    elif is_among(target.removeprefix("weir/"), TESTS) and not is_among(path, TESTS):
        yield Fault(path, line, "tests", f'"{target}": the product has no test code')
    elif other != own and other not in may_include.get(own, set()):
        allowed = ", ".join(sorted(may_include.get(own, set()))) or "nothing"
        yield Fault(path, line, "layers", f"{own}/ may not include {other}/ (it may include: {allowed})")
    elif own in LIBRARY and other == "base" and target.removeprefix("weir/") not in CORE and not is_among(path, TESTS):
        yield Fault(path, line, "library", f'"{target}": {own}/ is installed; of base/ it has only weir_core')


def check_includes(path, text, files, may_include):
    for match in INCLUDE.finditer(without_comments(text)):
        line, quoted, system = line_at(text, match.start()), match[1], match[2]
        if quoted and not quoted.startswith("weir/"):
            yield Fault(path, line, "include", f'"{quoted}": write "weir/FOLDER/FILE", or <...> for a library')
        elif quoted:
            yield from check_weir_include(path, line, quoted, files, may_include)
        elif system.startswith("weir/"):
            yield Fault(path, line, "include", f'<{system}>: write "{system}"')
        else:
            for rule in INCLUSIONS:
                if re.fullmatch(rule.headers, system) and not is_among(path, rule.where):
                    yield Fault(path, line, rule.rule, f"<{system}>: {rule.why}")


def check_words(path, text):
    code = code_of(text)
    for rule in VOCABULARY:
        if not is_among(path, rule.where):
            for match in re.finditer(rule.words, code):
                yield Fault(path, line_at(code, match.start()), rule.rule, f"{match.group().strip()}: {rule.why}")


SCOPE = re.compile(r"\s*(template\s*<.*>\s*)?(inline\s+)?(namespace|class|struct|enum|union|extern)\b", re.DOTALL)


def functions_of(code):
    """(first line, number of lines) of the outermost function bodies, found by their braces."""
    code = re.sub(r"^[ \t]*#(?:\\\n|[^\n])*", blank, code, flags=re.MULTILINE)
    open_braces, before, last = [], 0, None  # an open brace: the first line of its function, or None
    for match in re.finditer(r"[{};]", code):
        head, line = code[before:match.start()], line_at(code, match.start())
        before = match.end()
        if match.group() == "{":
            if any(open_braces) or SCOPE.match(head) or head.rstrip().endswith("="):
                open_braces.append(None)
            elif not head.strip() or head.lstrip().startswith(","):
                open_braces.append(last and last[0])  # goes on after `: member_{...}`
            elif "(" in head:
                open_braces.append(line_at(code, match.start() - len(head.lstrip())))
            else:
                open_braces.append(None)
        elif match.group() == "}" and open_braces:
            first = open_braces.pop()
            if first and last and last[0] != first:
                yield last
            last = (first, line - first + 1) if first else last
    if last:
        yield last


def check_sizes(path, text):
    lines = text.count("\n")
    if lines > FILE_LINES:
        yield Fault(path, lines, "file size", f"{lines} lines, at most {FILE_LINES}")
    elif path.endswith(".h") and lines > HEADER_LINES:
        yield Fault(path, lines, "header size", f"{lines} lines, at most {HEADER_LINES}")
    for first, length in functions_of(code_of(text)):
        if length > FUNCTION_LINES and not is_among(path, TESTS):
            yield Fault(path, first, "function size", f"{length} lines, at most {FUNCTION_LINES}")


def check_form(path, text):
    if not text.startswith("// SPDX-License-Identifier: Apache-2.0\n"):
        yield Fault(path, 1, "licence", "the first line is `// SPDX-License-Identifier: Apache-2.0`")
    for match in re.finditer(r"NOLINT(?!END)(?:NEXTLINE|BEGIN)?(?![A-Z])(?!(?:\([^()]*\))?: \S)", text):
        yield Fault(path, line_at(text, match.start()), "nolint", f"write {match.group()}(CHECK): reason")
    if path.endswith(".h") and not re.search(r"^#pragma once$", text, re.MULTILINE):
        yield Fault(path, 1, "include", "a header says `#pragma once`")


def check_folders(files, may_include):
    for path in sorted(files):
        if path.split("/")[0] not in may_include and "/" in path:
            yield Fault(path, 1, "layers", "this folder has no place in MAY_INCLUDE")


def check_cycles(files):
    """Reports each cycle of includes once, at the include that closes it."""
    edges = {path: [(match[1].removeprefix("weir/"), line_at(text, match.start()))
                    for match in INCLUDE.finditer(without_comments(text)) if match[1]]
             for path, text in files.items()}
    finished, trail = set(), []

    def visit(path):
        trail.append(path)
        for target, line in edges[path]:
            if target in trail:
                loop = [*trail[trail.index(target):], target]
                yield Fault(path, line, "cycle", " -> ".join(loop))
            elif target in edges and target not in finished:
                yield from visit(target)
        trail.pop()
        finished.add(path)

    for path in sorted(edges):
        if path not in finished:
            yield from visit(path)


def check_tree(files, may_include=None, exceptions=None):
    """Faults of a tree, given as path under src/weir -> text, in order of their place."""
    may_include = MAY_INCLUDE if may_include is None else may_include
    exceptions = EXCEPTIONS if exceptions is None else exceptions
    faults = [*check_folders(files, may_include), *check_cycles(files)]
    for path, text in files.items():
        faults += [*check_form(path, text), *check_includes(path, text, files, may_include), *check_words(path, text),
                   *check_sizes(path, text)]
    used = {(fault.rule, fault.path) for fault in faults} & exceptions.keys()
    faults = [fault for fault in faults if (fault.rule, fault.path) not in used]
    faults += [Fault(path, 1, "exceptions", f"no longer needs its exception from [{rule}]: take the entry out")
               for rule, path in exceptions.keys() - used]
    return sorted(faults, key=lambda fault: (fault.path, fault.line, fault.rule))


def read_tree(source):
    return {path.relative_to(source).as_posix(): path.read_text(encoding="utf-8")
            for path in sorted(source.rglob("*")) if path.suffix in (".h", ".cc") and path.is_file()}


def main(arguments):
    root = Path(arguments[0]) if arguments else Path(__file__).resolve().parent.parent
    source = root / "src" / "weir"
    files = read_tree(source)
    if not files:
        print(f"{source}: no sources found", file=sys.stderr)
        return 2
    found = check_tree(files)
    for fault in found:
        print(f"src/weir/{fault.path}:{fault.line}: [{fault.rule}] {fault.message}")
    faults = sum(fault.rule not in NOTES for fault in found)
    print(f"architecture: {len(files)} files, {faults} faults, {len(found) - faults} notes")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
