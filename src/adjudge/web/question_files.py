"""Files with questions and traps, read together."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from adjudge.preferences.questions import Questions


def question_files(paths: Sequence[Path]) -> tuple[Questions, list[tuple[str, str]]]:
    """The questions of several files as one, such as questions and traps; and each file with its digest."""
    from adjudge.preferences.files import read_questions
    from adjudge.preferences.questions import joined

    read = [read_questions(path) for path in paths]
    inputs = [(str(path), hashlib.sha256(path.read_bytes()).hexdigest()) for path in paths]
    return read[0] if len(read) == 1 else joined(read), inputs
