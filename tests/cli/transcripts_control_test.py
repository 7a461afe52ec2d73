"""The runner of transcripts fails where it must (a positive control), and writes what passes."""

import contextlib
import io
import pathlib
import tempfile
import unittest

import transcripts_test

TRANSCRIPTS = pathlib.Path(__file__).resolve().parent / "transcripts"

# Plays espalier: prints its arguments, a variable, a blank line and its input, and fails.
PROGRAM = """#!/bin/sh
echo "$* $COLOR"
echo
cat
echo oops >&2
exit 3
"""

RIGHT = """# What is shown.
$ COLOR=red espalier place 'a file' < words.txt
  place a file red

  some words
! oops
[exit 3]

$ sed s/some/no/ words.txt > other.txt
$ cat other.txt
  no words
"""


class Transcripts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.program = pathlib.Path(folder.name) / "espalier"
        self.program.write_text(PROGRAM, encoding="utf-8")
        self.program.chmod(0o755)
        self.transcript = pathlib.Path(folder.name) / "a.txt"
        self.own = pathlib.Path(folder.name) / "a"
        self.own.mkdir()
        (self.own / "words.txt").write_text("some words\n", encoding="utf-8")

    def run_of(self, text, *more):
        """Returns the exit code for a transcript with this text, and all that is printed."""
        self.transcript.write_text(text, encoding="utf-8")
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            code = transcripts_test.main([str(self.program), str(self.transcript), *more])
        return code, printed.getvalue()

    def test_the_right_one_passes(self):
        self.assertEqual(self.run_of(RIGHT), (0, ""))

    def test_each_difference_is_caught(self):
        for right, wrong in [
            ("a file red", "a file blue"),
            ("\n\n  some words", "\n  some words"),
            ("! oops\n", ""),
            ("[exit 3]\n", ""),
            ("[exit 3]", "[exit 1]"),
            ("  no words\n", ""),
            ("  no words\n", "  no words\n  more\n"),
            ("COLOR=red ", ""),
            (" < words.txt", ""),
            ("  no words\n", "  no words"),
        ]:
            with self.subTest(right=right, wrong=wrong):
                text = RIGHT.replace(right, wrong)
                self.assertNotEqual(text, RIGHT)
                code, printed = self.run_of(text)
                self.assertEqual(code, 1)
                self.assertIn("--update", printed)

    def test_what_cannot_be_run_fails(self):
        for text, message in [
            ("", "it has no command"),
            ("# Prose alone.\n  some words\n", "it has no command"),
            (RIGHT + "\n$ rm other.txt\n", "want espalier, cat or sed"),
            (RIGHT + "\n$ cat 'other.txt\n", "No closing quotation"),
            (RIGHT + "\n$ cat < nowhere.txt\n", "No such file"),
            (RIGHT + "\n$ cat other.txt > data/x.yaml\n", "want a file of the temporary folder"),
            ("$ espalier\n", "no command names a/words.txt"),
        ]:
            with self.subTest(text=text):
                for more in [[], ["--update"]]:
                    code, printed = self.run_of(text, *more)
                    self.assertEqual(code, 1)
                    self.assertIn(message, printed)
                    self.assertEqual(self.transcript.read_text(encoding="utf-8"), text)

    def test_a_program_that_cannot_be_started_fails(self):
        self.program.unlink()
        code, printed = self.run_of(RIGHT)
        self.assertEqual(code, 1)
        self.assertIn("No such file", printed)

    def test_an_update_keeps_prose_and_commands_alone(self):
        kept = [line for line in RIGHT.split("\n") if line.startswith(("#", "$"))]
        for text in ["\n".join(kept), RIGHT.replace("oops", "no error"), RIGHT]:
            self.assertEqual(self.run_of(text, "--update")[0], 0)
            self.assertEqual(self.run_of(self.transcript.read_text(encoding="utf-8")), (0, ""))
        self.assertEqual(self.transcript.read_text(encoding="utf-8"), RIGHT)

    def test_control_characters_are_shown(self):
        (self.own / "words.txt").write_text("\x1b[2J\tend", encoding="utf-8")
        self.run_of("$ cat words.txt\n", "--update")
        self.assertEqual(
            self.transcript.read_text(encoding="utf-8"),
            "$ cat words.txt\n  ␛[2J␉end\n[no newline at the end]\n",
        )


class Files(unittest.TestCase):
    def test_each_shared_one_is_named_by_a_transcript(self):
        texts = [file.read_text(encoding="utf-8") for file in TRANSCRIPTS.glob("*.txt")]
        shared = [file.name for file in (TRANSCRIPTS / "shared").iterdir()]
        self.assertEqual([name for name in shared if not any(name in text for text in texts)], [])

    def test_each_folder_is_one_of_a_transcript(self):
        for folder in TRANSCRIPTS.iterdir():
            if folder.is_dir() and folder.name != "shared":
                self.assertTrue(folder.with_suffix(".txt").is_file(), folder)


if __name__ == "__main__":
    unittest.main()
