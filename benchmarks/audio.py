"""Audio features beside librosa's: from a file to numbers, one thread each, in turns.

``python -m benchmarks.audio`` plays some 30-second clips of the demo collection, writes them as MP3, WAV, FLAC and Ogg
Vorbis and extracts MFCCs from each with Adjudge and with librosa's usual pipeline (``librosa.load`` and
``librosa.feature.mfcc``, all defaults); then all of Adjudge's features beside librosa's MFCCs, chroma and tempogram.
``--folder`` takes recordings of your own instead, 30 s of each. Times are of the processor, so that what else the
machine does counts little; the least of several turns. Before any ratio is shown MFCCs must agree.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
SECONDS, RATE = 30.0, 44100
KINDS: dict[str, dict[str, object]] = {
    "mp3": {"format": "MP3", "subtype": "MPEG_LAYER_III", "compression_level": 0.2, "bitrate_mode": "VARIABLE"},
    "wav": {},
    "flac": {},
    "ogg": {},
}
DOCUMENTS = ("baroque-01-01", "metal-02-03", "jazz-05-02", "romantic-25-12")
TOLERANCE = 0.01  # of coefficients that are some hundred

Task = Callable[[str], object]


def tasks() -> dict[str, Task]:
    """What is timed, from the path of a file."""
    import librosa
    import soundfile

    from adjudge.audio.features.extract import extract
    from adjudge.audio.features.spectra import compute_spectra, read_sound
    from adjudge.audio.features.timbre import mfcc

    def librosa_mfcc(path: str) -> object:
        y, sr = librosa.load(path)
        return librosa.feature.mfcc(y=y, sr=sr, n_mfcc=20)

    def librosa_all(path: str) -> object:
        y, sr = librosa.load(path)
        return (
            librosa.feature.mfcc(y=y, sr=sr, n_mfcc=20),
            librosa.feature.chroma_stft(y=y, sr=sr, tuning=0.0),
            librosa.feature.tempogram(y=y, sr=sr),
        )

    return {
        "decode": lambda path: soundfile.read(path, dtype="float32", always_2d=True),
        "Adjudge, MFCC": lambda path: mfcc(compute_spectra(read_sound(path))),
        "librosa, MFCC": librosa_mfcc,
        "Adjudge, all": extract,
        "librosa, all": librosa_all,
    }


def largest_difference(path: str) -> float:
    """Of MFCCs of the same samples."""
    import librosa
    import numpy as np

    from adjudge.audio.features.spectra import compute_spectra, read_sound
    from adjudge.audio.features.timbre import mfcc

    sound = read_sound(path)
    theirs = librosa.feature.mfcc(y=sound, sr=22050, n_mfcc=20).T
    return float(np.abs(mfcc(compute_spectra(sound)) - theirs).max())


def write_clips(folder: Path, sources: Sequence[Path], clips: int) -> list[str]:
    """Clips of 30 s in every format; their names without a suffix."""
    import soundfile

    from adjudge.audio.synthesis import synthesise

    names = []
    for number in range(len(sources) or clips):
        if sources:
            info = soundfile.info(str(sources[number]))
            length = min(info.frames, round(SECONDS * info.samplerate))
            samples, rate = soundfile.read(str(sources[number]), start=(info.frames - length) // 2, frames=length)
        else:
            samples, rate = synthesise(DOCUMENTS[number % len(DOCUMENTS)], seconds=SECONDS, rate=RATE), RATE
        names.append(str(folder / f"clip{number}"))
        for suffix, options in KINDS.items():
            soundfile.write(f"{names[-1]}.{suffix}", samples, rate, **options)
    return names


def least_times(paths: Sequence[str], repeats: int) -> dict[str, float]:
    """Seconds a clip of every task: the least of some turns, averaged over clips."""
    found = dict.fromkeys(tasks(), 0.0)
    for path in paths:
        taken: dict[str, list[float]] = {name: [] for name in found}
        for _ in range(repeats + 1):
            for name, task in tasks().items():
                start = time.process_time()
                task(path)
                taken[name].append(time.process_time() - start)
        for name, values in taken.items():
            found[name] += min(values[1:]) / len(paths)  # the first turn loads and compiles
    return found


def main(argv: Sequence[str]) -> int:
    """Run and print; 1 when tools disagree."""
    from benchmarks.report import Table, machine, seconds, times

    parser = argparse.ArgumentParser(prog="python -m benchmarks.audio", description=__doc__)
    parser.add_argument("--clips", type=int, default=4, help="clips of the demo collection")
    parser.add_argument("--folder", type=Path, help="recordings of your own")
    parser.add_argument("--repeats", type=int, default=7, help="turns, the fastest counts")
    arguments = parser.parse_args(argv)
    sources = sorted(path for path in arguments.folder.iterdir() if path.is_file()) if arguments.folder else []
    print("\n".join(machine()), flush=True)
    rows, furthest = [], 0.0
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        names = write_clips(Path(folder), sources, arguments.clips)
        for suffix in KINDS:
            paths = [f"{name}.{suffix}" for name in names]
            furthest = max(furthest, *map(largest_difference, paths))
            if furthest > TOLERANCE:
                print(f"benchmarks: MFCCs differ by {furthest}; no ratios", file=sys.stderr)
                return 1
            print(f"  {suffix}", file=sys.stderr, flush=True)
            taken = least_times(paths, arguments.repeats)
            for what in ("MFCC", "all"):
                ours, theirs, decode = taken[f"Adjudge, {what}"], taken[f"librosa, {what}"], taken["decode"]
                beyond = times((theirs - decode) / (ours - decode))
                row = [f"{suffix}, {what}", *map(seconds, (decode, ours, theirs)), times(theirs / ours), beyond]
                rows.append(row)
    notes = (
        f"{len(names)} clips of {SECONDS:.0f} s, stereo, one thread, seconds of the processor a clip, least of "
        f"{arguments.repeats} turns. All is timbre, rhythm and harmony; of librosa, mfcc, chroma_stft and tempogram. "
        f"Decoding is libsndfile's to float32 in both, but Adjudge reads WAV of 16 bits as such. "
        f"MFCCs of the same samples differ by {furthest:.1g} at most."
    )
    head = ["source", "decoding", "Adjudge", "librosa", "ratio", "ratio without decoding"]
    print(f"\n{Table('Audio features', notes, head, rows).text()}")
    print(f"load at the end {os.getloadavg()[0]:.1f}")
    return 0


if __name__ == "__main__":
    if any(os.environ.get(name) != value for name, value in ONE_THREAD.items()):
        command = [sys.executable, "-m", "benchmarks.audio", *sys.argv[1:]]
        os.execve(sys.executable, command, {**os.environ, **ONE_THREAD})  # libraries count threads when they load
    sys.exit(main(sys.argv[1:]))
