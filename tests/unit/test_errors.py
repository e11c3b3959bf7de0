"""Warnings are kept for one context alone, whatever other threads do meanwhile."""

from __future__ import annotations

import contextvars
import inspect
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from adjudge.errors import AdjudgeError, AdjudgeWarning, kept_warnings, warn
from adjudge.registry import unknown


def heard(act: Callable[[], object]) -> list[str]:
    """What is said aloud, in whichever thread."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        act()
    assert all(warning.category is AdjudgeWarning for warning in caught)
    return [str(warning.message) for warning in caught]


def says_of_its_caller() -> None:
    warn("weak", stacklevel=2)


def test_a_warning_points_to_the_line_that_is_meant() -> None:
    first = inspect.getsourcelines(test_a_warning_points_to_the_line_that_is_meant)[1]
    with pytest.warns(AdjudgeWarning, match="weak") as of_caller:
        says_of_its_caller()
    with pytest.warns(AdjudgeWarning, match="weak") as of_itself:
        warn("weak", stacklevel=1)
    places = [(warning.filename, warning.lineno - first) for warning in (*of_caller, *of_itself)]
    assert places == [(__file__, 3), (__file__, 5)]


def test_what_is_kept_is_given_and_not_heard() -> None:
    def act() -> None:
        warn("before")
        with kept_warnings() as said:
            warn("one")
            warn("one")
        warn("after")
        assert said == ["one", "one"]

    assert heard(act) == ["before", "after"]


def test_of_nested_ones_the_inner_keeps_it() -> None:
    def act() -> None:
        with kept_warnings() as outer:
            warn("first")
            with kept_warnings() as inner:
                warn("second")
            warn("third")
        assert (outer, inner) == (["first", "third"], ["second"])

    assert heard(act) == []


def test_after_an_error_all_is_heard_again() -> None:
    def act() -> None:
        with pytest.raises(AdjudgeError), kept_warnings():
            raise AdjudgeError("no")
        warn("aloud")

    assert heard(act) == ["aloud"]


def test_threads_keep_their_own_whatever_the_order_in_which_they_enter_and_leave() -> None:
    together = Barrier(3, timeout=300)

    def keeping(first: str, last: str, *, waits_before: int, waits_inside: int) -> list[str]:
        for _ in range(waits_before):
            together.wait()
        with kept_warnings() as said:
            warn(first)
            for _ in range(waits_inside):
                together.wait()
            warn(last)
        for _ in range(4 - waits_before - waits_inside):
            together.wait()
        return said

    def speaking() -> None:
        for moment in range(4):
            together.wait()
            warn(f"aloud {moment}")

    def act() -> None:
        with ThreadPoolExecutor(max_workers=3) as threads:
            early = threads.submit(keeping, "a", "b", waits_before=0, waits_inside=2)
            late = threads.submit(keeping, "c", "d", waits_before=1, waits_inside=2)  # enters within, leaves after
            threads.submit(speaking).result()
        assert (early.result(), late.result()) == (["a", "b"], ["c", "d"])

    assert heard(act) == [f"aloud {moment}" for moment in range(4)]


def test_a_worker_is_heard_unless_it_works_in_the_context() -> None:
    def act() -> None:
        with kept_warnings() as said, ThreadPoolExecutor(max_workers=1) as threads:
            threads.submit(warn, "of nobody").result()
            threads.submit(contextvars.copy_context().run, warn, "of ours").result()
        assert said == ["of ours"]

    assert heard(act) == ["of nobody"]


def test_names_that_are_equally_near_are_all_suggested_or_none() -> None:
    systems = [f"sys{i}" for i in range(1, 6)]
    assert str(unknown("system", "sys", systems)) == f"No system is called 'sys'. Known: {', '.join(systems)}."
    assert str(unknown("system", "sys", systems[:3])).endswith("Did you mean 'sys1', 'sys2' or 'sys3'?")
    assert str(unknown("system", "sis4", systems)).endswith("Did you mean 'sys4'?")
