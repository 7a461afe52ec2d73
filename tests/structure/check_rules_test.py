"""The check of docs/spec finds what it must find (positive controls) and lets a sound specification
pass."""

import pathlib
import tempfile
import unittest
from unittest import mock

import check_rules

HEADING = "## 1. Orders (R1.1 to R1.2)\n\n"
TEXTS = "**R1.1 Path order** compares values.\n\n* **R1.2 Ties** end in the path.\n\n"
TABLE = "| Rule | Implemented in | Oracle | Tests |\n| --- | --- | --- | --- |\n"
FIRST = "| R1.1 | `kernels/orders.hpp:PlainOrder` | `orders.cpp:OrderB` | **cases** |\n"
SECOND = "| R1.2 | `kernels/orders.hpp` | - | `orders_test.cpp:R1_2`<br>`orders_test.cpp` |\n"
SOUND = HEADING + TEXTS + TABLE + FIRST + SECOND
EXAMPLES = "## E1: run\n\n```example E1\nlevels host\n```\n\n## E2: tested elsewhere\n"
FILES = {
    "kernels/orders.hpp": "// R1.1, section 1\nstruct PlainOrder {};\n",
    "tests/oracle/orders.cpp": "bool OrderB();\n",
    "tests/orders_test.cpp": "TEST(Orders, R1_2_Ties) {}\nTEST(Orders, E2_Other) {}\n",
    "docs/spec/workload-apis.md": "",
    "docs/nested-gangs.md": "",
    "docs/spec/worked-examples.md": EXAMPLES,
}


def problems_of(specification, files=None):
    """What the check says about a repository with one section and this specification."""
    with tempfile.TemporaryDirectory() as folder, \
            mock.patch.object(check_rules, "SECTIONS", ["R1"]):
        root = pathlib.Path(folder)
        contents = {**FILES, **(files or {}), "docs/spec/kueue-tas.md": specification}
        for path, text in contents.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, encoding="utf-8")
        return check_rules.check(root)[0]


class SoundSpecifications(unittest.TestCase):
    def test_pass(self):
        self.assertEqual(problems_of(SOUND), [])

    def test_what_is_not_here_needs_neither_file_nor_test(self):
        for reason in ["Out of scope: it is input", "Not implemented: nobody asked"]:
            row = f"| R1.2 | {reason} | - | - |\n"
            self.assertEqual(problems_of(HEADING + TEXTS + TABLE + FIRST + row), [])

    def test_rules_of_other_documents_are_known(self):
        other = SOUND.replace("R1", "W3").replace("## 1", "## W3")
        other = other.replace("W3_2", "R1_2")
        files = {"docs/spec/workload-apis.md": other, "host/a.cpp": "// W3.2, section 3\n"}
        self.assertEqual(problems_of(SOUND, files), [])


class BrokenSpecificationsAreCaught(unittest.TestCase):
    def test_each(self):
        for what, specification in {
            "missing row": SOUND.replace(SECOND, ""),
            "row twice": SOUND + FIRST,
            "missing text": SOUND.replace("* **R1.2 Ties** end in the path.\n", ""),
            "text twice": SOUND + "**R1.1 Path order** again.\n",
            "empty text": SOUND.replace("**R1.1 Path order** compares values.", "**R1.1.**"),
            "text of no section": SOUND + "**R1.3 More** of it.\n",
            "row of no section": SOUND + SECOND.replace("R1.2", "R2.1"),
            "no such file": SOUND.replace("kernels/orders.hpp:", "kernels/order.hpp:"),
            "no such name": SOUND.replace("PlainOrder", "Plain"),
            "no such oracle name": SOUND.replace("OrderB", "OrderC"),
            "no such test": SOUND.replace("R1_2", "R1_3"),
            "no implementation": SOUND.replace("| `kernels/orders.hpp` |", "| - |"),
            "no test": SOUND.replace("**cases**", "-"),
            "a column too few": SOUND.replace("| - |", "|"),
        }.items():
            with self.subTest(what):
                problems = [problem for problem in problems_of(specification)
                            if not problem.startswith("docs/spec/kueue-tas.md: cites")]
                self.assertEqual(len(problems), 1, problems)

    def test_missing_section(self):
        self.assertIn("section R1 has no heading", problems_of(SOUND.replace(HEADING, "")))


class CitationsOfNothingAreCaught(unittest.TestCase):
    def test_each(self):
        missing = "which the specification does not have"
        for path, text, problem in [
            ("host/a.cpp", "// see R1.3\n", f"cites R1.3, {missing}"),
            ("host/a.cpp", "// see W1.1\n", f"cites W1.1, {missing}"),
            ("tests/a_test.cpp", "TEST(Orders, R1_3_More) {}\n", f"cites R1.3, {missing}"),
            ("docs/a.md", "As R2.1 says.\n", f"cites R2.1, {missing}"),
            ("host/a.cpp", "// Orders (section\n// 2).\n", f"cites section 2, {missing}"),
            ("host/a.cpp", "// Sections 1 to 3.\n", f"cites section 3, {missing}"),
            ("tests/a_test.cpp", "// E3\n",
             "cites E3, which docs/spec/worked-examples.md does not have"),
        ]:
            with self.subTest(text):
                self.assertEqual(problems_of(SOUND, {path: text}), [f"{path}: {problem}"])

    def test_examples_that_nobody_runs(self):
        files = {"docs/spec/worked-examples.md": EXAMPLES + "\n## E3: forgotten\n"}
        self.assertEqual(problems_of(SOUND, files),
                         ["docs/spec/worked-examples.md: E3 is neither run nor cited by a test"])

    def test_examples_without_a_heading(self):
        files = {"docs/spec/worked-examples.md": EXAMPLES + "\n```example E4\n```\n"}
        self.assertEqual(problems_of(SOUND, files),
                         ["docs/spec/worked-examples.md: E4 has no heading"])


if __name__ == "__main__":
    unittest.main()
