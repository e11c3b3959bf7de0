"""A campaign from freely licensed music in Debian's packages: ``python -m examples.debian_music DIR``.

    packages       apt finds and downloads packages; their music and copyright files are kept
    credits        who made each piece, and under which licence, from its tags and the copyright file
    attribution    the credits as people read them
    __main__       everything in turn, with Adjudge's own commands

The folder grows by what is asked for, and what it has stays: interrupted, the same command goes on from there.
"""
