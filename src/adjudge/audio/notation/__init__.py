"""Music as notation: files, checks, engraving, and the sound of it."""


def __getattr__(name: str) -> object:
    from adjudge.deprecated import find_moved

    return find_moved(__name__, name)
