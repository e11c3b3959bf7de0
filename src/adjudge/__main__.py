# PYTHON_ARGCOMPLETE_OK
"""``python -m adjudge`` is the same as ``adjudge``."""

try:
    from adjudge.cli import run
except KeyboardInterrupt:
    raise SystemExit(130) from None

if __name__ == "__main__":
    run()
