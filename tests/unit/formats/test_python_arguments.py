"""What Python users may get wrong gets a sentence, not a traceback from inside."""

from __future__ import annotations

from pathlib import Path

import pytest

import adjudge as aj


@pytest.mark.parametrize("thing", [aj.demo(queries=10, depth=3), None, "runs"])
def test_only_parts_of_a_collection_can_be_written(thing: object, tmp_path: Path) -> None:
    with pytest.raises(aj.AdjudgeError, match="Expected runs, judgments or metadata of a collection to write, got"):
        aj.write(thing, tmp_path / "x.csv")  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


def test_a_scale_that_is_none_is_refused() -> None:
    with pytest.raises(aj.AdjudgeError, match="Scale: expected one of binary, broad, fine or an interval"):
        aj.read({"s": {"q": ["a"]}}, {"q": {"a": 1}}, scale=5)  # type: ignore[arg-type]


def test_the_demo_stays_a_function_when_its_module_is_imported() -> None:
    import adjudge.embedded

    assert callable(aj.demo)
    assert adjudge.embedded.demo is aj.demo
