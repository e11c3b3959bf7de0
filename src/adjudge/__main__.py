# PYTHON_ARGCOMPLETE_OK
"""``python -m adjudge`` is the same as ``adjudge``."""

from adjudge.cli import run

if __name__ == "__main__":
    run()
