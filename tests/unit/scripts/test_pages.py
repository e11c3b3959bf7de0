"""Pages that show something else than what comes are found out."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from scripts.docs import pages
from scripts.docs.pages import DifferentError

Check = Callable[[str], None]


@pytest.fixture
def check(tmp_path: Path) -> Check:
    """Run a page of these words in a folder of its own."""

    def run(text: str) -> None:
        folder = tmp_path / "folder"
        folder.mkdir(exist_ok=True)
        pages.check(page_of(text, tmp_path), folder)

    return run


def page_of(text: str, folder: Path) -> Path:
    page = folder / "page.md"
    page.write_text(text, encoding="utf-8")
    return page


def console(*lines: str) -> str:
    return "\n".join(["```console", *lines, "```", ""])


def python(*lines: str) -> str:
    return "\n".join(["```python", *lines, "```", ""])


class TestCommands:
    def test_what_is_printed_is_shown(self, check: Check) -> None:
        check(console("$ printf 'a b\\n\\nc\\n'", "a b", "c"))

    @pytest.mark.parametrize("shown", ["a c", "a", "a b\nc", "b\na b", "?"])
    def test_anything_else_is_not(self, shown: str, check: Check) -> None:
        with pytest.raises(DifferentError, match=r"page.md:1: \$ echo a b\nprints\na b\n\nbut the page shows"):
            check(console("$ echo a b", shown))

    def test_a_command_with_nothing_below_may_print_anything_but_must_succeed(self, check: Check) -> None:
        check(console("$ echo a"))
        with pytest.raises(DifferentError, match="exit code 3"):
            check(console("$ exit 3"))

    @pytest.mark.parametrize("command", ["false | cat", "false; true", "adjudge score nowhere.txt", "no-such-program"])
    def test_one_that_fails_in_any_part_is_found_out(self, command: str, check: Check) -> None:
        with pytest.raises(DifferentError, match="ended with exit code"):
            check(console(f"$ {command}", "…"))

    def test_one_that_is_meant_to_fail_says_so(self, check: Check) -> None:
        check(console('$ adjudge score nowhere.txt 2>&1 || echo "exit code $?"', "adjudge: …", "exit code 2"))

    def test_one_of_ours_needs_no_process_and_is_compared_all_the_same(self, check: Check) -> None:
        with pytest.raises(DifferentError, match="but the page shows\nadjudge 0"):
            check(console("$ adjudge --version", "adjudge 0"))

    def test_a_command_goes_on_after_a_backslash(self, check: Check) -> None:
        check(console("$ echo a \\", "    b", "a b"))

    def test_lines_above_the_first_command_are_refused(self, check: Check) -> None:
        with pytest.raises(DifferentError, match=r"a command after '\$ '.*got 'adjudge demo\\n'"):
            check(console("adjudge demo"))

    def test_hidden_ones_run_in_the_same_folder_and_must_succeed(self, check: Check) -> None:
        check("<!-- $ echo a > file -->\n" + console("$ cat file", "a"))
        with pytest.raises(DifferentError, match="exit code 1"):
            check("<!-- $ false -->\n")

    def test_settings_of_whoever_runs_it_do_not_count(self, check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("ADJUDGE_DATA", "/elsewhere")
        check(console('$ echo "data ${ADJUDGE_DATA:-none}, $(basename $HOME)"', "data none, folder"))
        assert os.environ["ADJUDGE_DATA"] == "/elsewhere"


class TestDots:
    @pytest.mark.parametrize("shown", ["…", "a\n…", "…\nc", "a\n…\nc", "a\nb\n…\nc", "…\nb\n…", "a\n…b…\nc"])
    def test_they_stand_for_lines_or_for_parts_of_one(self, shown: str) -> None:
        assert pages.matches(shown, "a\nb\nc\n")

    @pytest.mark.parametrize("shown", ["b\n…", "…\nb", "a\n…\nd", "a…c", "…\nc\n…\nb", "a …\nb\nc", "a…\n…\nb…\n"])
    def test_what_stands_beside_them_must_come_and_in_order(self, shown: str) -> None:
        assert not pages.matches(shown, "a\nb\nc\n")

    def test_signs_are_signs_not_patterns(self) -> None:
        assert not pages.matches("p = 0.05", "p = 0x05")


class TestServers:
    READY = "bash -c 'echo $$ > pid; echo ready; exec sleep 600' &"
    WAIT = "$ until test -s pid; do sleep 0.05; done; while ps -o stat= -p $(cat pid) | grep -qv Z; do sleep 0.05; done"

    @staticmethod
    def is_gone(folder: Path) -> bool:
        try:
            os.kill(int((folder / "folder" / "pid").read_text()), 0)
        except ProcessLookupError:
            return True
        return False

    def test_one_is_waited_for_and_gone_at_the_end(self, check: Check, tmp_path: Path) -> None:
        check(console(f"$ {self.READY}", "ready", "$ test -s pid"))
        assert self.is_gone(tmp_path)

    def test_one_whose_port_is_taken_gets_another_while_the_page_runs(self, check: Check) -> None:
        listen = "import socket, sys; socket.create_server(('127.0.0.1', int(sys.argv[2]))); print('at', sys.argv[2])"
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            check(console(f'$ python -c "{listen}" --port {port} &', f"at {port}"))

    @pytest.mark.parametrize("later", [console("$ false"), console("$ echo a", "b"), python("1 / 0")])
    def test_one_is_gone_when_the_page_fails(self, later: str, check: Check, tmp_path: Path) -> None:
        with pytest.raises((DifferentError, ZeroDivisionError), match=r"exit code 1|but the page|division"):
            check(console(f"$ {self.READY}", "ready") + later)
        assert self.is_gone(tmp_path)

    def test_one_that_does_not_want_to_go_is_made_to(
        self, check: Check, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(pages, "_GRACE_S", 0.1)
        stubborn = "bash -c 'trap true TERM; echo $$ > pid; echo ready; while true; do sleep 0.1; done' &"
        check(console(f"$ {stubborn}", "ready"))
        assert self.is_gone(tmp_path)

    def test_one_that_says_something_else_is_found_out(self, check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(pages, "_PATIENCE_S", 0.3)
        with pytest.raises(DifferentError, match="but the page shows\nsteady"):
            check(console(f"$ {self.READY}", "steady"))

    def test_one_that_fails_after_it_began_is_found_out(self, check: Check) -> None:
        with pytest.raises(DifferentError, match="exit code 7\nready"):
            check(console("$ bash -c 'echo $$ > pid; echo ready; exit 7' &", "ready", self.WAIT))

    def test_one_of_which_nothing_is_shown_must_not_fail_either(self, check: Check) -> None:
        with pytest.raises(DifferentError, match="exit code 7"):
            check(console("$ bash -c 'echo $$ > pid; exit 7' &", self.WAIT))


class TestPython:
    def test_answers_must_come(self, check: Check) -> None:
        check(python(">>> 1 + 1", "2"))
        with pytest.raises(DifferentError, match="Expected:\n    3"):
            check(python(">>> 1 + 1", "3"))

    def test_names_are_kept_for_later_blocks(self, check: Check) -> None:
        check(python("a = 1") + python(">>> b = a + 1") + python("assert b == 2"))

    def test_a_script_must_run(self, check: Check) -> None:
        with pytest.raises(ZeroDivisionError, match="division"):
            check(python("1 / 0"))

    def test_a_script_may_have_examples_in_its_docstrings(self, check: Check) -> None:
        check(python("def one():", '    """Give 1.', "", "    >>> 2", "    3", '    """', "    return 1"))

    def test_a_line_without_a_prompt_among_examples_is_found_out(self, check: Check) -> None:
        with pytest.raises(SyntaxError, match="invalid syntax"):
            check(python("a = 1", ">>> a", "2"))

    def test_an_error_that_is_shown_must_be_the_one_that_comes(self, check: Check) -> None:
        shown = (">>> int('a')", "Traceback (most recent call last):")
        check(python(*shown, "ValueError: invalid literal for int() with base 10: 'a'"))
        with pytest.raises(DifferentError, match="invalid literal"):
            check(python(*shown, "ValueError: not a number"))

    def test_what_nobody_would_compare_is_refused(self, check: Check) -> None:
        with pytest.raises(DifferentError, match="what follows a blank line is no answer: '3'"):
            check(python(">>> 1 + 1", "2", "", "3"))


class TestPages:
    @pytest.mark.parametrize(
        "line",
        ["  ```console", "- ```console", "> ```sh", "~~~console", ":::{note}", "<!--$ make -->", "<!-- $make -->"],
    )
    def test_blocks_that_would_be_passed_over_are_seen(self, line: str, tmp_path: Path) -> None:
        page = page_of(f"Words.\n\n{console('$ true')}\n<!-- $ true -->\n\n{line}\n", tmp_path)
        assert pages.overlooked(page) == [line]

    @pytest.mark.parametrize(
        ("command", "unknown"),
        [
            ("adjudge score qrels.txt runs -m CG@5 --json", []),
            ("adjudge scores qrels.txt", ["scores"]),
            ("adjudge score qrels.txt --jason", ["--jason"]),
            ("adjudge campaign create --kin=ranking", ["--kin"]),
            ("adjudge campaign pause|close NAME", []),
            ("adjudge campaign pause|dose NAME", ["dose"]),
        ],
    )
    def test_commands_in_running_text_are_looked_up(self, command: str, unknown: list[str]) -> None:
        assert pages.unknown_words(command) == unknown

    def test_a_page_is_rewritten_with_what_is_printed_now(self, tmp_path: Path) -> None:
        commands = (r"printf 'a\nb\nc\n'", "echo one \\\n    two")
        before = console(f"$ {commands[0]}", "?", "…", f"$ {commands[1]}", "?")
        after = console(f"$ {commands[0]}", "a", "…", f"$ {commands[1]}", "one two")
        assert pages.rewritten(page_of(f"Words.\n\n{before}\nMore.\n", tmp_path), tmp_path) == (
            f"Words.\n\n{after}\nMore.\n"
        )
