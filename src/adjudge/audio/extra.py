"""The packages that read and measure sound, which come with the audio extra."""

from __future__ import annotations

from importlib import import_module

from adjudge.errors import AdjudgeError

PACKAGES = ("soundfile", "pyloudnorm", "tinytag")


def need_audio(who: str, packages: tuple[str, ...] = PACKAGES) -> None:
    """Refuse in one line where packages for sound are not installed; ``who`` says what needs them.

    >>> need_audio("Songs need", ("no_such_package",))
    Traceback (most recent call last):
    adjudge.errors.AdjudgeError: Songs need the audio extra: pip install 'adjudge[audio]'
    """
    try:
        for name in packages:
            import_module(name)
    except (ImportError, OSError):  # the package, or the library that it needs
        raise AdjudgeError(f"{who} the audio extra: pip install 'adjudge[audio]'") from None
