#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of architecture.py on small made-up trees."""

import contextlib
import io
import tempfile
import unittest
import unittest.mock
from pathlib import Path

import architecture

LICENCE = "// SPDX-License-Identifier: Apache-2.0\n"


def header(body=""):
    return f"{LICENCE}#pragma once\n{body}"


def source(body=""):
    return LICENCE + body


def faults_of(files, exceptions=None):
    """(path, line, rule) of each fault in `files`; the exceptions are empty unless given."""
    faults = architecture.check_tree(files, exceptions=exceptions or {})
    return [(fault.path, fault.line, fault.rule) for fault in faults]


class LayersTest(unittest.TestCase):
    def test_an_include_along_the_arrows_passes(self):
        self.assertEqual(faults_of({
            "base/result.h": header(),
            "limit/limit.cc": source('#include "weir/base/result.h"\n'),
        }), [])

    def test_what_is_installed_as_a_library_includes_only_the_core_of_base(self):
        self.assertEqual(faults_of({
            "base/result.h": header(),
            "base/log.h": header(),
            "store/account.h": header('#include "weir/base/result.h"\n#include "weir/base/log.h"\n'),
            "store/account_test.cc": source('#include "weir/base/log.h"\n'),
        }), [("store/account.h", 4, "library")])

    def test_an_include_against_the_arrows_is_reported_at_its_line(self):
        self.assertEqual(faults_of({
            "gateway/pipeline.h": header(),
            "limit/limit.cc": source('\n#include "weir/gateway/pipeline.h"\n'),
        }), [("limit/limit.cc", 3, "layers")])

    def test_tests_obey_the_arrows_too(self):
        self.assertEqual(faults_of({
            "store/account.h": header(),
            "limit/limit_test.cc": source('#include "weir/store/account.h"\n'),
        }), [("limit/limit_test.cc", 2, "layers")])

    def test_what_tests_share_is_for_tests_only(self):
        self.assertEqual(faults_of({
            "store/contract/suite.h": header("#include <gtest/gtest.h>\n"),
            "store/memory/memory_store_test.cc": source('#include "weir/store/contract/suite.h"\n'),
            "store/memory/memory_store.cc": source('#include "weir/store/contract/suite.h"\n'),
        }), [("store/memory/memory_store.cc", 2, "tests")])

    def test_a_folder_without_a_place_is_reported(self):
        self.assertEqual(faults_of({"misc/things.h": header()}), [("misc/things.h", 1, "layers")])

    def test_the_table_itself_has_no_cycle_and_names_only_folders(self):
        for folder, below in architecture.MAY_INCLUDE.items():
            for other in below:
                self.assertIn(other, architecture.MAY_INCLUDE)
                self.assertLessEqual(architecture.MAY_INCLUDE[other], below, f"{folder} -> {other}")
                self.assertNotIn(folder, architecture.MAY_INCLUDE[other])


class IncludeTest(unittest.TestCase):
    def test_a_missing_header_is_reported(self):
        self.assertEqual(faults_of({"base/a.cc": source('#include "weir/base/gone.h"\n')}),
                         [("base/a.cc", 2, "include")])

    def test_relative_and_angled_includes_of_own_headers_are_reported(self):
        self.assertEqual(faults_of({
            "base/a.h": header(),
            "base/a.cc": source('#include "a.h"\n#include <weir/base/a.h>\n'),
        }), [("base/a.cc", 2, "include"), ("base/a.cc", 3, "include")])

    def test_an_include_in_a_comment_is_not_an_include(self):
        self.assertEqual(faults_of({
            "limit/a.cc": source('// #include "weir/app/main.h"\n/*\n#include <spdlog/spdlog.h>\n*/\n')}), [])

    def test_a_cycle_is_reported_once_with_its_way(self):
        files = {
            "base/a.h": header('#include "weir/base/b.h"\n'),
            "base/b.h": header('#include "weir/base/c.h"\n'),
            "base/c.h": header('#include "weir/base/a.h"\n'),
        }
        self.assertEqual(faults_of(files), [("base/c.h", 3, "cycle")])
        self.assertIn("base/a.h -> base/b.h -> base/c.h -> base/a.h",
                      architecture.check_tree(files, exceptions={})[0].message)

    def test_a_diamond_is_no_cycle(self):
        self.assertEqual(faults_of({
            "base/a.h": header('#include "weir/base/b.h"\n#include "weir/base/c.h"\n'),
            "base/b.h": header('#include "weir/base/d.h"\n'),
            "base/c.h": header('#include "weir/base/d.h"\n'),
            "base/d.h": header(),
        }), [])

    def test_a_header_that_includes_itself_is_a_cycle(self):
        self.assertEqual(faults_of({"base/a.h": header('#include "weir/base/a.h"\n')}), [("base/a.h", 3, "cycle")])


class VocabularyTest(unittest.TestCase):
    def test_words_are_reported_outside_their_home(self):
        for path, code, rule in [
            ("limit/a.cc", "auto t = std::chrono::steady_clock::now();", "clock"),
            ("gateway/a.cc", "SystemClock clock;", "clock"),
            ("store/a.cc", "clock_gettime(CLOCK_MONOTONIC, &t);", "clock"),
            ("server/a.cc", "epoll_wait(fd, events, 1, -1);", "epoll"),
            ("config/a.cc", 'std::getenv("HOME");', "environment"),
            ("io/a_test.cc", "std::this_thread::sleep_for(1ms);", "sleep"),
            ("io/a.cc", "usleep(10);", "sleep"),
            ("http/a.cc", "throw std::runtime_error(text);", "throw"),
        ]:
            with self.subTest(code):
                self.assertEqual(faults_of({path: source(code + "\n")}), [(path, 2, rule)])

    def test_words_are_welcome_at_home(self):
        self.assertEqual(faults_of({
            "base/clock.cc": source("auto t = std::chrono::steady_clock::now();\n"),
            "app/wiring.cc": source('SystemClock clock; std::getenv("HOME");\n'),
            "io/loop.cc": source("epoll_wait(fd, events, 1, -1);\n"),
        }), [])

    def test_comments_and_strings_are_not_code(self):
        self.assertEqual(faults_of({"limit/a.cc": source(
            "// throw\n/* steady_clock\n throw */\nauto a = \"throw \\\" throw\";\n"
            "auto b = R\"x(throw \" )\" throw)x\";\n"
            "auto c = '\"'; auto d = 1'000'000; auto e = '\\'';\n")}), [])

    def test_lines_are_counted_across_comments_and_strings(self):
        self.assertEqual(faults_of({"limit/a.cc": source("/*\n\n*/\nauto a = R\"(\n\n)\";\nthrow 1'0;\n")}),
                         [("limit/a.cc", 8, "throw")])

    def test_longer_words_are_other_words(self):
        code = "rethrow_exception(p); my_getenv_x(); loop.sleep(1s);\n"
        self.assertEqual(faults_of({"limit/a.cc": source(code)}), [])


class LibraryTest(unittest.TestCase):
    def test_libraries_are_reported_outside_their_home(self):
        for path, name, rule in [
            ("gateway/a.cc", "sys/epoll.h", "sockets"),
            ("gateway/a.cc", "netinet/in.h", "sockets"),
            ("route/a.cc", "yaml-cpp/yaml.h", "yaml"),
            ("app/a.cc", "spdlog/spdlog.h", "spdlog"),
            ("gateway/refusal.cc", "prometheus/counter.h", "prometheus"),
            ("limit/a.cc", "openssl/sha.h", "openssl"),
            ("identity/a.cc", "jansson.h", "tokens"),
            ("gateway/a.cc", "jose/jwk.h", "tokens"),
            ("gateway/a.cc", "curl/curl.h", "curl"),
            ("http/a.cc", "boost/beast.hpp", "oracles"),
            ("http/a.h", "gtest/gtest.h", "tests"),
        ]:
            with self.subTest(name):
                text = header if path.endswith(".h") else source
                line = 3 if path.endswith(".h") else 2
                self.assertEqual(faults_of({path: text(f"#include <{name}>\n")}), [(path, line, rule)])

    def test_libraries_are_welcome_at_home(self):
        self.assertEqual(faults_of({
            "io/a.cc": source("#include <sys/epoll.h>\n"),
            "config/a.cc": source("#include <yaml-cpp/yaml.h>\n"),
            "http/a_test.cc": source("#include <boost/beast.hpp>\n#include <gtest/gtest.h>\n"),
        }), [])


class SizeTest(unittest.TestCase):
    def test_files_headers_and_functions_have_a_largest_size(self):
        lines = "int a;\n"
        self.assertEqual(faults_of({"base/a.cc": source(lines * 599)}), [])
        self.assertEqual(faults_of({"base/a.cc": source(lines * 600)}), [("base/a.cc", 601, "file size")])
        self.assertEqual(faults_of({"base/a.h": header(lines * 149)}), [("base/a.h", 151, "header size")])

    def test_a_long_function_is_reported_at_its_first_line(self):
        body = "  f();\n" * 59
        for head in ["int f(int a) {", "class A {\n void f() {", "A::A() : b_{1}, c_{2} {",
                     "namespace a {\nint f()\n{", "template <class T>\nvoid f(T t) {", "static A make(B b) noexcept {",
                     "template <class T> struct A { void f() {"]:
            with self.subTest(head):
                last_scope = "}" * head.count("{")
                text = source(f"int a;\n{head}\n{body}{last_scope}\n")
                self.assertEqual([rule for _, _, rule in faults_of({"base/a.cc": text})], ["function size"])
        self.assertEqual(faults_of({"base/a.cc": source(f"int a;\nint f() {{\n{body}}}\n")}),
                         [("base/a.cc", 3, "function size")])

    def test_a_test_may_be_long(self):
        text = source("TEST(ATest, Works) {\n" + "  f();\n" * 100 + "}\n")
        self.assertEqual(faults_of({"base/a_test.cc": text}), [])

    def test_what_is_not_a_function_may_be_long(self):
        body = "  f();\n" * 100
        for text in [f"namespace a {{\n{body}}}\n", f"class A {{\n{body}}};\n", "int f() { return 1; }\n" * 100,
                     "constexpr A kTable[size(2)] = {\n" + "  {1},\n" * 100 + "};\n"]:
            with self.subTest(text[:20]):
                self.assertEqual(faults_of({"base/a.cc": source(text)}), [])


class FormTest(unittest.TestCase):
    def test_every_file_names_its_licence_and_every_header_its_guard(self):
        self.assertEqual(faults_of({"base/a.cc": "int a;\n", "base/a.h": LICENCE}),
                         [("base/a.cc", 1, "licence"), ("base/a.h", 1, "include")])

    def test_a_silenced_lint_names_its_check_and_a_reason(self):
        self.assertEqual(faults_of({"base/a.cc": source(
            "f();  // NOLINT(bugprone-x): the sign is wanted\n// NOLINTNEXTLINE(a-b, c-d): because\nf();\n"
            "// NOLINTBEGIN(a-b): because\n// NOLINTEND(a-b)\n")}), [])
        for comment in ["NOLINT", "NOLINTNEXTLINE(bugprone-x)", "NOLINT(bugprone-x):", "NOLINTBEGIN"]:
            with self.subTest(comment):
                self.assertEqual(faults_of({"base/a.cc": source(f"\nf();  // {comment}\n")}),
                                 [("base/a.cc", 3, "nolint")])


class ExceptionsTest(unittest.TestCase):
    def test_an_exception_covers_one_rule_in_one_file(self):
        files = {"limit/a.cc": source("throw 1;\nSystemClock c;\n"), "limit/b.cc": source("throw 1;\n")}
        self.assertEqual(faults_of(files, {("throw", "limit/a.cc"): "reason"}),
                         [("limit/a.cc", 3, "clock"), ("limit/b.cc", 2, "throw")])

    def test_an_exception_that_nothing_needs_is_a_fault(self):
        self.assertEqual(faults_of({"limit/a.cc": source()}, {("throw", "limit/a.cc"): "reason"}),
                         [("limit/a.cc", 1, "exceptions")])


class MainTest(unittest.TestCase):
    def run_on(self, files):
        with tempfile.TemporaryDirectory() as root:
            for path, text in files.items():
                place = Path(root) / "src" / "weir" / path
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_text(text, encoding="utf-8")
            output = io.StringIO()
            with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
                status = architecture.main([root])
        return status, output.getvalue()

    def test_a_fault_is_printed_with_place_and_rule(self):
        status, output = self.run_on({"limit/a.cc": source("throw 1;\n")})
        self.assertEqual(status, 1)
        self.assertIn("src/weir/limit/a.cc:2: [throw] throw: ", output)

    def test_a_long_header_is_told_but_no_fault(self):
        with unittest.mock.patch.object(architecture, "EXCEPTIONS", {}):
            status, output = self.run_on({"limit/a.h": header("int a;\n" * 200)})
        self.assertEqual(status, 0)
        self.assertIn("[header size] 202 lines", output)

    def test_a_tree_without_sources_is_wrong_usage(self):
        self.assertEqual(self.run_on({})[0], 2)


if __name__ == "__main__":
    unittest.main()
