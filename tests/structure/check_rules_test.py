"""The check of docs/rules.md finds what it must find (a positive control) and lets a sound table
pass."""

import pathlib
import tempfile
import unittest
from unittest import mock

import check_rules

HEADING = "## 1. Orders (R1.1 to R1.2)\n\n| Rule | What | Implemented in | Oracle | Tests |\n"
FIRST = "| R1.1 | path order | `kernels/orders.hpp:PlainOrder` | `orders.cpp:OrderB` | **cases** |\n"
SECOND = "| R1.2 | ties | `kernels/orders.hpp` | - | `orders_test.cpp:R1_2`<br>`orders_test.cpp` |\n"
FILES = {
    "kernels/orders.hpp": "// R1.1\nstruct PlainOrder {};\n",
    "tests/oracle/orders.cpp": "bool OrderB();\n",
    "tests/orders_test.cpp": "TEST(Orders, R1_2_Ties) {}\n",
}


def problems_of(table, files=None):
    """What the check says about a repository with one section and this table."""
    with tempfile.TemporaryDirectory() as folder, \
            mock.patch.object(check_rules, "SECTIONS", range(1, 2)):
        root = pathlib.Path(folder)
        for path, text in {**FILES, **(files or {}), "docs/rules.md": table}.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, encoding="utf-8")
        return check_rules.check(root)[0]


class SoundTables(unittest.TestCase):
    def test_pass(self):
        self.assertEqual(problems_of(HEADING + FIRST + SECOND), [])

    def test_out_of_scope_needs_neither_file_nor_test(self):
        row = "| R1.2 | ties | Out of scope: it is input | - | - |\n"
        self.assertEqual(problems_of(HEADING + FIRST + row), [])


class BrokenTablesAreCaught(unittest.TestCase):
    def test_each(self):
        for what, table in {
            "missing row": HEADING + FIRST,
            "row twice": HEADING + FIRST + FIRST + SECOND,
            "row of no section": HEADING + FIRST + SECOND + SECOND.replace("R1.2", "R2.1"),
            "no such file": HEADING + FIRST.replace("kernels/orders", "kernels/order") + SECOND,
            "no such name": HEADING + FIRST.replace("PlainOrder", "Plain") + SECOND,
            "no such oracle name": HEADING + FIRST.replace("OrderB", "OrderC") + SECOND,
            "no such test": HEADING + FIRST + SECOND.replace("R1_2", "R1_3"),
            "no implementation": HEADING + FIRST + SECOND.replace("`kernels/orders.hpp`", "-"),
            "no test": HEADING + FIRST.replace("**cases**", "-") + SECOND,
            "a column too few": HEADING + FIRST + SECOND.replace("| - |", "|"),
            "not said what it is": HEADING + FIRST.replace("path order", "") + SECOND,
        }.items():
            with self.subTest(what):
                self.assertEqual(len(problems_of(table)), 1)

    def test_missing_section(self):
        self.assertIn("section 1 has no heading", problems_of(FIRST + SECOND))

    def test_unknown_rule_in_a_source_file(self):
        problems = problems_of(HEADING + FIRST + SECOND, {"host/a.cpp": "// see R1.3\n"})
        self.assertEqual(problems, ["host/a.cpp: cites R1.3, which docs/rules.md does not list"])


if __name__ == "__main__":
    unittest.main()
