"""Keep linear algebra to one core: a server has better things to do with the others.

OpenBLAS shares small products out to all cores and waits for the slowest. Beside other work on the same cores a refresh
then takes six times the processor time that it takes on one.
"""

from __future__ import annotations

import ctypes
import logging
import os
from pathlib import Path

_SET = ("scipy_openblas_set_num_threads64_", "scipy_openblas_set_num_threads")
_CHOSEN = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "GOTO_NUM_THREADS")
_log = logging.getLogger(__name__)


def keep_to_one_core() -> int:
    """Limit the OpenBLAS that NumPy and SciPy brought along to one thread; the number of libraries that listened.

    What somebody chose in the environment is left alone. Where another library does the work nothing happens.
    """
    if any(os.environ.get(name) for name in _CHOSEN):
        return 0
    listened = 0
    for path in _libraries():
        try:
            library = ctypes.CDLL(str(path))
        except OSError as error:
            _log.debug("%s cannot be limited to one thread: %s", path, error)
            continue
        for name in _SET:
            if hasattr(library, name):
                getattr(library, name)(1)
                listened += 1
    return listened


def _libraries() -> list[Path]:
    import numpy as np
    import scipy

    found: list[Path] = []
    for package in (np, scipy):
        folder = Path(str(package.__file__)).resolve().parent
        for libraries in (folder.parent / f"{package.__name__}.libs", folder / ".dylibs"):  # Linux, macOS
            found += sorted(libraries.glob("*openblas*"))
    return found
