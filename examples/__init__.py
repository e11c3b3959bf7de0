"""Set pieces that are run from a source checkout and are not in the wheel.

debian_music    a campaign from freely licensed music in Debian's packages
"""
