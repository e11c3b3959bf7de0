"""Keep linear algebra to one core: a server has better things to do with the others.

OpenBLAS shares small products out to all cores and waits for the slowest. Beside other work on the same cores a refresh
then takes six times the processor time that it takes on one.
"""

from __future__ import annotations

import os

import scipy.linalg  # noqa: F401 - brings the library along that is to be limited
from threadpoolctl import ThreadpoolController

_CHOSEN = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "GOTO_NUM_THREADS")


def keep_to_one_core() -> int:
    """Limit the linear algebra of NumPy and SciPy to one thread; the number of libraries that listened.

    What somebody chose in the environment is left alone.
    """
    if any(os.environ.get(name) for name in _CHOSEN):
        return 0
    libraries = ThreadpoolController().select(user_api="blas")
    libraries.limit(limits=1)
    return len(libraries.lib_controllers)
