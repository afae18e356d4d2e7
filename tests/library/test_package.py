# SPDX-License-Identifier: Apache-2.0
"""The CMake package `weir`: installs it from a build, and builds and runs the examples against what was installed.

The environment says where the build is and what it was made with: WEIR_BUILD, WEIR_SOURCE, and as CMake knows them
CMAKE_COMMAND, CMAKE_GENERATOR, CMAKE_CXX_COMPILER, CMAKE_CXX_FLAGS.
"""

import concurrent.futures
import os
import re
import subprocess
from pathlib import Path

import pytest

SOURCE = Path(os.environ["WEIR_SOURCE"])
COMPILER = os.environ["CMAKE_CXX_COMPILER"]


def run(*command, **options):
    """What the command prints; its output is the failure's message."""
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=120, check=False, **options)
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    path = tmp_path_factory.mktemp("prefix")
    run(os.environ["CMAKE_COMMAND"], "--install", os.environ["WEIR_BUILD"], "--component", "library", "--prefix", path)
    return path


@pytest.fixture(scope="module")
def examples(prefix, tmp_path_factory):
    """The examples, built as a project of their own that knows nothing but the prefix."""
    path = tmp_path_factory.mktemp("examples")
    cmake = os.environ["CMAKE_COMMAND"]
    run(cmake, "-S", SOURCE / "examples" / "library", "-B", path, "-G", os.environ["CMAKE_GENERATOR"],
        f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_CXX_COMPILER={COMPILER}",
        f"-DCMAKE_CXX_FLAGS={os.environ.get('CMAKE_CXX_FLAGS', '')} -Wall -Wextra -Werror")
    run(cmake, "--build", path)
    return path


def matches(pattern, text):
    assert re.fullmatch(pattern, text), text


def test_a_function_is_limited(examples):
    matches("mail 1: sent\n"
            "mail 2: sent\n"
            "mail 3: sent\n"
            r"mail 4: try again in 0\.[0-5] s" "\n"
            r"mail 5: try again in 0\.[0-5] s" "\n", run(examples / "limit_a_function"))


def test_two_limits_take_all_or_nothing(examples):
    matches("request 1: admitted, left: 2 now and 3 this month\n"
            "request 2: admitted, left: 1 now and 2 this month\n"
            "request 3: admitted, left: 0 now and 1 this month\n"
            r"request 4: refused, left: 0 now and 1 this month, retry after 0\.[0-5] s" "\n"
            "request 5: admitted, left: 0 now and 0 this month\n"
            r"request 6: refused, left: 0 now and 0 this month, retry after \d+\.\d s" "\n", run(examples / "two_limits"))


def test_jobs_start_at_the_rate_of_the_line(examples):
    lines = run(examples / "wait_in_line").splitlines()
    refused = [line for line in lines if "full" in line]
    assert [re.sub(r"0\.0\d", "0.0N", line) for line in refused] == [
        "job 5: the line is full, room in 0.0N s", "job 6: the line is full, room in 0.0N s"]
    starts = dict(re.findall(r"job (\d): starts at (\d+) ms", "\n".join(lines)))
    assert sorted(starts) == ["1", "2", "3", "4"] and len(lines) == 6
    for job, start in starts.items():
        assert int(start) >= 50 * (int(job) - 1)


def test_the_library_brings_cctz_and_nothing_else_of_the_gateway(examples):
    libraries = run("ldd", examples / "two_limits")
    assert "libcctz" in libraries
    assert not re.search("fmt|spdlog|prometheus|ssl|crypto|yaml|uring", libraries), libraries


def test_every_installed_header_compiles_alone(prefix):
    headers = sorted(path.relative_to(prefix / "include") for path in prefix.rglob("*.h"))
    assert Path("weir/limit/limit.h") in headers and Path("weir/store/memory/memory_store.h") in headers
    assert not [path for path in headers if re.search("golden|test|shard|generation", str(path))]

    def compile_alone(header):
        run(COMPILER, "-std=c++23", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-I", prefix / "include",
            "-x", "c++", "-", input=f'#include "{header}"\n')

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(compile_alone, headers))


def test_the_installed_files_name_neither_the_sources_nor_the_build(prefix):
    for path in prefix.rglob("*.cmake"):
        text = path.read_text(encoding="utf-8")
        assert str(SOURCE) not in text and os.environ["WEIR_BUILD"] not in text, path


def quoted_in(document, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", document, re.MULTILINE | re.DOTALL)


def test_the_documents_quote_the_examples_as_they_are():
    sources = [path.read_text(encoding="utf-8") for path in (SOURCE / "examples" / "library").iterdir()]
    quotes = quoted_in((SOURCE / "README.md").read_text(encoding="utf-8"), "cpp")
    assert quotes
    for quote in quotes:
        assert any(quote in source for source in sources), quote
