"""A small archive of packages with generated sound, and programs in PATH that stand in for apt's; no network."""

from __future__ import annotations

import hashlib
import io
import stat
import tarfile
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import soundfile

RATE = 22050
FORMAT = "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n"

SCRIPTS = {
    # Says what it knows of packages, as apt does: those it does not know it complains of, and goes on.
    "apt-cache": """
case $1 in
  pkgnames) for file in "$ARCHIVE"/"$2"*.fields; do [ -e "$file" ] && basename "$file" .fields; done; exit 0 ;;
esac
shift 2
for name in "$@"; do
  if [ -e "$ARCHIVE/$name.fields" ]; then cat "$ARCHIVE/$name.fields"; echo; else echo "N: Unable to locate" >&2; fi
done
""",
    # Counts its calls, and fails where the network is down.
    "apt-get": """
echo "$2" >> "$ARCHIVE/calls"
if [ -e "$ARCHIVE/down" ]; then echo "E: Failed to fetch $2  Could not connect" >&2; exit 100; fi
cp "$ARCHIVE/$2.package" "./$2_1%3a1_all.deb"
""",
    "dpkg-deb": """
if [ "$1" = --show ]; then name=${4##*/}; echo "${name%%_*} 1:1"; exit 0; fi
mkdir -p "$3"
tar -xf "$2" -C "$3" 2>/dev/null || { echo "dpkg-deb: error: not an archive" >&2; exit 2; }
""",
}


class Archive:
    """Packages that the programs in PATH know of."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder / "archive"
        programs = folder / "programs"
        self.folder.mkdir()
        programs.mkdir()
        for name, text in SCRIPTS.items():
            (programs / name).write_text(f"#!/bin/sh\n{text}")
            (programs / name).chmod(stat.S_IRWXU)
        monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
        monkeypatch.setenv("ARCHIVE", str(self.folder))
        self.programs = programs

    @property
    def calls(self) -> list[str]:
        """What was downloaded, in order."""
        path = self.folder / "calls"
        return path.read_text().splitlines() if path.exists() else []

    def add(self, name: str, content: dict[str, bytes], copyright_text: str | None, *, component: str = "main") -> None:
        """A package with these files and this copyright file."""
        root = self.folder / f"{name}.root"
        texts = {} if copyright_text is None else {f"usr/share/doc/{name}/copyright": copyright_text.encode()}
        for path, data in {**content, **texts}.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(data)
        package = self.folder / f"{name}.package"
        with tarfile.open(package, "w") as tar:
            tar.add(root, arcname=".")
        digest = hashlib.sha256(package.read_bytes()).hexdigest()
        (self.folder / f"{name}.fields").write_text(
            f"Package: {name}\nVersion: 1:1\nInstalled-Size: 100\nSection: games\n"
            f"Filename: pool/{component}/x/{name}.deb\nSize: {package.stat().st_size}\nSHA256: {digest}\n"
            "Description: music\n of a game\n"
        )


@cache
def sound(*, pitch: float, seconds: float = 1.5, **tags: str) -> bytes:
    """A recording of a tone and noise, with tags."""
    rng = np.random.default_rng(int(pitch))
    time = np.arange(round(seconds * RATE)) / RATE
    beat = 0.6 + 0.4 * np.sign(np.sin(2 * np.pi * (1 + pitch % 5) * time))
    samples = 0.2 * beat * np.sin(2 * np.pi * pitch * time) + 0.02 * rng.standard_normal(len(time))
    written = io.BytesIO()
    with soundfile.SoundFile(written, "w", RATE, 1, format="OGG") as file:
        for name, value in tags.items():
            setattr(file, name, value)
        file.write(samples)
    return written.getvalue()


HYPER = f"""{FORMAT}
Files: *
Copyright: 2011 Zeno Rogue <zeno@example.org>
License: GPL-2+

Files: music/hunting.ogg music/mount*.ogg
Copyright: 2014 Lincoln Domina (http://domina.example.org)
License: CC-BY-SA-3.0

Files: debian/*
Copyright: 2013 A. Packager
License: GPL-2+

License: GPL-2+
 On Debian systems, see /usr/share/common-licenses/GPL-2.
"""

FREE_TEXT = """This package was debianized by Ann Packager; the packaging may be used as public domain.

It was downloaded from http://example.org/

Copyright (C) 2007 Max McCracken

   This music may be distributed under the GNU General Public License,
   version 2 of the License, or (at your option) any later version.

        -----

   fonts/ is Copyright (c) 2003 by Bitstream, Inc.
   Permission is hereby granted, free of charge, to any person.
"""


def two_games(archive: Archive) -> None:
    """A game whose copyright file is machine-readable, and one whose is not."""
    place = "usr/share/hyper"
    archive.add(
        "hyper-music",
        {
            f"{place}/music/hunting.ogg": sound(pitch=220),
            f"{place}/music/mountain.ogg": sound(pitch=331, title="Up | there", artist="Domina"),
            f"{place}/music/ours.ogg": sound(pitch=441, artist="Zeno", album="Hyper", genre="Game"),
            f"{place}/music/jingle.ogg": sound(pitch=500, seconds=0.6),
            f"{place}/sounds/long.ogg": sound(pitch=600),
            f"{place}/music/readme.txt": b"no sound",
        },
        HYPER,
    )
    archive.add(
        "max-1.16-music",
        {
            "usr/share/games/max/tunes/02 - Max - City Blues.ogg": sound(pitch=552, copyright="Max (C) 2007"),
            "usr/share/games/max/tunes/win/Apex.ogg": sound(
                pitch=663, artist="Max", title="Apex", license="http://creativecommons.org/licenses/by/3.0/"
            ),
        },
        FREE_TEXT,
    )
