"""Optional extras: their packages, and a one-line error where these are missing.

The core reads, scores, compares, plans and simulates. Figures, sound, notation, spreadsheets, clusters, data sets of
other people and campaigns on the web need packages that not everybody wants; code that uses them calls :func:`need`
first, before any work is done. A test compares this table with ``pyproject.toml``.
"""

from __future__ import annotations

from importlib import import_module

from adjudge.errors import MissingPackageError, shown
from adjudge.text import listed

EXTRAS: dict[str, dict[str, str]] = {  # modules and their packages
    "audio": {"soundfile": "soundfile", "pyloudnorm": "pyloudnorm", "soxr": "soxr", "tinytag": "tinytag"},
    "dask": {"distributed": "distributed"},
    "datasets": {"ir_datasets": "ir-datasets"},
    "notation": {"verovio": "verovio"},
    "plots": {"matplotlib": "matplotlib"},
    "spreadsheets": {"python_calamine": "python-calamine"},
    "web": {
        "alembic": "alembic",
        "argon2": "argon2-cffi",
        "fastapi": "fastapi",
        "httpx": "httpx",
        "markdown_it": "markdown-it-py",
        "psycopg": "psycopg",
        "python_multipart": "python-multipart",
        "sqlalchemy": "sqlalchemy",
        "uvicorn": "uvicorn",
    },
}
_AROUND_A_LIBRARY = ("soundfile",)  # the package may be installed without the library that it calls
_MOST_NAMES = 3


def need(extra: str, who: str, *modules: str) -> None:
    """Raise where packages of an extra are missing; ``who`` says what needs them.

    ``modules`` are those of the extra that are needed, all by default. Without matplotlib, ``need("plots", "Figures
    need")`` raises *Figures need matplotlib, which is not installed: pip install 'adjudge[plots]'*.
    """
    packages = EXTRAS[extra]
    missing = [packages[module] for module in modules or packages if not _is_there(module)]
    if missing:
        are = "is" if len(missing) == 1 else "are"
        names = listed(missing, most=_MOST_NAMES)
        raise MissingPackageError(f"{who} {names}, which {are} not installed: pip install 'adjudge[{extra}]'")
    for module in modules or packages:
        if module in _AROUND_A_LIBRARY:
            try:
                import_module(module)
            except (ImportError, OSError) as error:
                came = f"which is installed but does not load: {shown(error, 200)}"
                raise MissingPackageError(f"{who} {module}, {came}") from None


def has(extra: str) -> bool:
    """Whether all packages of an extra are installed."""
    return all(map(_is_there, EXTRAS[extra]))


def _is_there(module: str) -> bool:
    """Whether a module can be found; importing it would take time."""
    from importlib.util import find_spec

    return find_spec(module) is not None
