"""adjudge audio: features, prepare, runs, statistics, systems, and --sound, as typed and as mistyped."""

from __future__ import annotations

import csv
import hashlib
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import soundfile
from tests.unit.cli.conftest import Terminal, typed

from adjudge.audio.features import AUDIO_FEATURES
from adjudge.audio.features.extract import save_values
from adjudge.audio.library.excerpts import PLACES
from adjudge.audio.library.folder import CLIP_COLUMNS, CLIP_FOLDER, CLIPS, TRACK_COLUMNS, TRACKS
from adjudge.audio.systems import BASELINES
from adjudge.cli import main
from adjudge.cli.parser import build_parser
from adjudge.formats import read

ARTISTS = ("Ann", "ann ", "Bo", "Bo", "Cy", "Di", "Di; Ed", None)
GENRES = ("rock", "rock", "rock", "folk", "folk", "folk", "jazz", None)


def write_library(folder: Path, *, tagged: bool = True) -> Path:
    """Write clips, tracks.csv and clips.csv into a folder."""
    (folder / CLIP_FOLDER).mkdir(parents=True)
    tracks, clips = [], []
    for place, (artist, genre) in enumerate(zip(ARTISTS, GENRES, strict=True)):
        rng = np.random.default_rng(place)
        tone = np.sin(2 * np.pi * 220 * 2 ** (place / 3) * np.arange(22050) / 22050)
        path = folder / CLIP_FOLDER / f"d{place}.mp3"
        soundfile.write(path, 0.3 * tone + 0.05 * rng.normal(size=22050), 22050, format="MP3")
        row = [f"d{place}", f"song {place}", artist, "album", genre, "1999"]
        tracks.append([*(row if tagged else [*row[:2], *[None] * 4]), "1.0"])
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        clips.append([f"d{place}", f"{place}.wav", 0, 1.0, 22050, 1, -18, -3, 0, "false", digest, digest])
    for name, columns, rows in ((TRACKS, TRACK_COLUMNS, tracks), (CLIPS, CLIP_COLUMNS, clips)):
        with (folder / name).open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([columns, *rows])
    return folder


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    clip = Path("lab/clips/a.mp3")
    clip.parent.mkdir(parents=True)
    soundfile.write(clip, np.random.default_rng(1).uniform(-0.1, 0.1, size=22050), 44100, format="MP3")
    digest = hashlib.sha256(clip.read_bytes()).hexdigest()
    row = dict.fromkeys(CLIP_COLUMNS, "1") | {"document": "a", "clip_sha256": digest}
    pl.DataFrame([row]).write_csv("lab/clips.csv")
    pl.DataFrame({"document": ["a"]}).write_csv("lab/tracks.csv")
    return Path("lab")


def test_it_says_what_it_did(lab: Path, cli: Terminal) -> None:
    said = cli.out("audio", "features", "lab", "--feature", "timbre", "--feature", "tonal")
    assert said == "timbre (230 numbers), tonal (96 numbers) of 1 clip, 1 new; kept in lab/features\n"
    said = cli.out("audio", "features", "lab", "--feature", "timbre", "-o", "timbre.csv")
    assert said == "timbre (230 numbers) of 1 clip, 0 new; kept in lab/features\nwrote timbre.csv\n"
    assert pl.read_csv("timbre.csv").shape == (1, 231)


def test_without_a_library_it_lists_the_features(cli: Terminal) -> None:
    lines = [line for line in cli.out("audio", "features").splitlines() if line.strip()]
    assert [line.split()[0] for line in lines[2:]] == list(AUDIO_FEATURES)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("nowhere", "nowhere: expected a folder made by 'adjudge audio prepare'"),
        ("lab --feature tembre", "No audio feature is called 'tembre'. Did you mean 'timbre'?"),
        ("lab -o f.xlsx", "expected a name that ends in .npz, .csv, .parquet, got .xlsx"),
        ("lab -o lab/tracks.csv", "outside of the library"),
        ("lab -o nowhere/f.csv", "existing directory"),
        ("lab --workers 0", "'workers' must be a whole number of at least 1"),
        ("--feature timbre", "expected the folder of a library"),
        ("lab", "lab/clips/a.mp3: expected sound that can be decoded"),
    ],
)
@pytest.mark.usefixtures("lab")
def test_features_that_cannot_be_are_refused_in_one_line(cli: Terminal, words: str, said: str) -> None:
    Path("lab/clips/a.mp3").write_bytes(b"no sound")
    assert said in cli.refused("audio", "features", *typed(words))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two recordings that can be used, and two that cannot."""
    monkeypatch.chdir(tmp_path)
    music = tmp_path / "music"
    music.mkdir()
    for seed, name in enumerate(("one", "two")):
        soundfile.write(music / f"{name}.wav", np.random.default_rng(seed).normal(0, 0.1, (32000, 1)), 32000)
    soundfile.write(music / "silence.wav", np.zeros((32000, 1)), 32000)
    (music / "empty.mp3").write_bytes(b"")
    return tmp_path


QUICK = ["--seconds", "1", "--workers", "1"]


def test_what_was_made_and_left_out_is_said(folder: Path, cli: Terminal) -> None:
    made, *others = cli.out("audio", "prepare", "music", "-o", "my lab", *QUICK).splitlines()
    loudness = r"-1[78]\.\d to -1[78]\.\d LUFS, true peaks of at most -\d+\.\d dBTP"
    assert re.fullmatch(rf"2 clips in my lab, all of them new: {loudness}", made)
    assert others == [
        "2 files left out: 1 not audio, 1 silent; see my lab/problems.csv",
        "next: adjudge audio runs 'my lab'",
    ]
    assert sorted(path.name for path in (folder / "my lab" / "clips").iterdir()) == ["one.mp3", "two.mp3"]
    again = cli.out("audio", "prepare", "music", "-o", "my lab", *QUICK)
    assert again.startswith("2 clips in my lab, none of them new: ")


def test_clips_that_stay_quieter_and_rows_that_miss_are_said(folder: Path, cli: Terminal) -> None:
    Path("table.csv").write_text("file,artist\none.wav,A\nthree.wav,B\n")
    hits = np.random.default_rng(1).normal(0, 0.01, (32000, 1))
    hits[16000] = 1.0
    soundfile.write(folder / "music" / "hits.wav", hits, 32000)
    said = cli.out("audio", "prepare", "music", "-o", "lab", "--table", "table.csv", "--loudness", "-18", *QUICK)
    assert "1 clip held more than 1 LU below -18 LUFS by its peaks: hits\n" in said
    assert "2 files left out: 1 not audio, 1 silent; see lab/problems.csv\n" in said
    assert "used all the same: 2 not in table; see lab/problems.csv\n" in said
    assert "1 row of the table without a recording; see lab/problems.csv\n" in said


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["nowhere", "-o", "lab"], "nowhere: expected a folder with recordings, got nothing of that name"),
        (["music", "-o", ""], "--output: expected a folder, got an empty name"),
        (["", "-o", "lab"], "FOLDER: expected a folder, got an empty name"),
        (["music", "-o", "music"], "music: expected another folder for the clips than that of the recordings"),
        (["music", "-o", "lab", "--loudness", "loud"], "--loudness: expected auto or a number in LUFS, got 'loud'"),
        (["music", "-o", "lab", "--seconds", "-3"], "'seconds' must be from 0.5 to 1800, got -3"),
        (["music", "-o", "lab", "--least-seconds=-1"], "'least-seconds' must be a finite number of at least 0, got -1"),
        (["music", "-o", "lab", "--table", "none.csv"], "none.csv: "),
        (["music", "-o", "music/one.wav"], "music/one.wav: expected a folder for the clips, got a file"),
        (["music", "-o", "lab", "--seconds", "1", "--least-seconds", "2", "--workers", "1"], "music: none of 4 files"),
    ],
)
def test_mistakes_are_one_line(folder: Path, cli: Terminal, options: list[str], said: str) -> None:
    assert cli.refused("audio", "prepare", *options).startswith(f"adjudge: {said}")


def test_an_interruption_says_how_to_go_on(folder: Path, cli: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    from adjudge.audio.library import prepare

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(prepare, "run_jobs", interrupted)
    said = cli("audio", "prepare", "music", "-o", "lab", *QUICK)
    assert said == (130, "", "adjudge: interrupted: nothing is lost; the same command goes on in lab\n")


def test_every_place_can_be_asked_for() -> None:
    for place in PLACES:
        asked = build_parser().parse_args(["audio", "prepare", "music", "-o", "lab", "--place", place])
        assert asked.place == place


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_library(tmp_path_factory.mktemp("audio") / "lab")


@pytest.fixture
def ranked_lab(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(made, tmp_path / "lab")
    monkeypatch.chdir(tmp_path)
    return Path("lab")


def test_all_systems_write_runs_that_are_read(ranked_lab: Path, cli: Terminal) -> None:
    code, out, err = cli("audio", "runs", "lab", "--workers", "1", "-k", "3")
    assert code == 0
    assert out.startswith("7 systems, 8 of 8 documents as queries, up to 3 documents each: lab/runs/(")
    assert "The artist of 1 of 8 queries is not known: nothing is filtered for these." in err
    collection = read("lab/runs", None, "lab/tracks.csv")
    assert len(collection.systems) == 7
    retrieved = {(query, one) for _, query, one, *_ in collection.runs.to_polars().iter_rows()}
    assert not retrieved & {("d0", "d1"), ("d1", "d0"), ("d2", "d3"), ("d5", "d6"), ("d6", "d5")}


def test_queries_lists_and_matrices_are_as_asked(ranked_lab: Path, cli: Terminal) -> None:
    asked = ["lab", "--system", "random", "--system", "tags"]
    cli.out("audio", "runs", *asked, "--queries", "3", "-k", "2", "--no-artist-filter", "-o", "three")
    assert len(Path("three/random.txt").read_text().splitlines()) == 6
    assert sorted(path.name for path in Path("three").iterdir()) == ["random.txt", "tags.txt"]
    Path("asked.csv").write_text("\ufeffdocument,why\r\nd4,x\r\nd1,y\r\n", encoding="utf-8")
    Path("asked.txt").write_text("# mine\nd4\n\nd1\n")
    Path("quoted.csv").write_text('artist,document\n"Last, First",d4\n"b",d1\n')
    for given in ("asked.csv", "asked.txt", "quoted.csv", "d4,d1"):
        cli.out("audio", "runs", *asked, "--queries", given)
        queries = dict.fromkeys(line.split()[0] for line in (ranked_lab / "runs/random.txt").read_text().splitlines())
        assert list(queries) == ["d4", "d1"]
    code, out, err = cli("audio", "runs", "lab", "--system", "random", "--per-genre", "1", "--matrix", "npy")
    assert code == 0
    assert "lab/runs has runs from before, too, which may be about other queries: tags.txt" in err
    assert "1 document of unknown genre is no query." in err
    assert "8 x 8 distances of random: lab/matrices/random.npy (0.0 MB)" in out
    assert np.load("lab/matrices/random.npy").shape == (8, 8)


def test_without_tags_that_system_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Terminal) -> None:
    monkeypatch.chdir(tmp_path)
    write_library(tmp_path / "bare", tagged=False)
    code, out, err = cli("audio", "runs", "bare", "--workers", "1")
    assert code == 0
    assert out.startswith("6 systems")
    assert "no document has tags that tell it from others: the system 'tags' is left out" in err
    assert "The artist of no query is known: nothing is filtered by artist." in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere"], "nowhere: expected a folder made by 'adjudge audio prepare', got nothing of that name"),
        (["lab", "--system", "timber"], "No baseline system is called 'timber'. Did you mean 'timbre'?"),
        (["lab", "--queries", "9"], "expected at most 8 queries, as there are documents, got 9"),
        (["lab", "--queries=--5"], "expected queries that are documents of the library, got '--5'"),
        (["lab", "--queries", "-1"], "'queries' must be a whole number of at least 1, got -1"),
        (["lab", "--queries", "d1,x"], "expected queries that are documents of the library, got 'x'"),
        (["lab", "--queries", "no/such"], "no/such: expected a file with queries, got none"),
        (["lab", "--queries", "empty.txt"], "empty.txt: expected queries, one per line, got none"),
        (["lab", "--queries", "table.csv"], "table.csv: expected one query per line, or a column 'document'"),
        (["lab", "--queries", "sound.bin"], f"expected queries that are documents of the library, got '{'x' * 59}…'"),
        (["lab", "--per-genre", "0"], "'per-genre' must be a whole number of at least 1, got 0"),
        (["lab", "-k", "0"], "'k' must be a whole number of at least 1, got 0"),
        (["lab", "--seed", "-1"], "'seed' must be a whole number of at least 0, got -1"),
        (["lab", "--workers", "0"], "'workers' must be a whole number of at least 1, got 0"),
        (["lab", "-o", "table.csv"], "table.csv: expected a folder for runs, got a file"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(
    ranked_lab: Path, cli: Terminal, arguments: list[str], said: str
) -> None:
    Path("empty.txt").write_text("# nothing\n")
    Path("table.csv").write_text("a,b\nd1,d2\n")
    Path("sound.bin").write_text("x" * 131_073)
    assert cli.refused("audio", "runs", *arguments) == f"adjudge: {said}\n"


@pytest.fixture(scope="module")
def described(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    lab = tmp_path_factory.mktemp("described") / "lab"
    shutil.copytree(made, lab)
    assert main(["audio", "runs", str(lab), "-k", "3", "--workers", "1"]) == 0
    return lab


def test_a_library_is_described_in_words_and_tables(described: Path, cli: Terminal) -> None:
    out = cli.out("audio", "statistics", str(described))
    assert out.startswith("8 documents. All are queries. Known are only the genre of 7 and the artist of 7.")
    assert "Hubs in top-5 lists." in out
    assert "timbre-mp, all artists" in out


def test_runs_of_a_library_and_elsewhere_are_described(described: Path, cli: Terminal) -> None:
    rows = cli.rows("audio", "statistics", str(described), str(described / "runs"))
    assert {(row["lists"], row["cutoff"]) for row in rows} == {("as given", "3")}
    elsewhere = (str(described / "runs"), "--metadata", str(described / "tracks.csv"))
    assert cli.rows("audio", "statistics", *elsewhere) == rows


def test_json_has_numbers_words_and_origin(described: Path, cli: Terminal) -> None:
    content = cli.json("audio", "statistics", str(described), "--system", "random", "--cutoffs", "2,4")
    assert [row["cutoff"] for row in content["statistics"]] == [2, 4, 2, 4]
    assert content["summary"][0].startswith("8 documents.")
    assert [Path(one["file"]).name for one in content["provenance"]["inputs"]] == ["tracks.csv", "clips.csv"]


@pytest.mark.parametrize("name", ["hubs.html", "hubs.tex"])
def test_a_page_is_written(described: Path, tmp_path: Path, cli: Terminal, name: str) -> None:
    code, out, _ = cli("audio", "statistics", str(described), "--system", "random", "-o", str(tmp_path / name))
    assert (code, out) == (0, "")
    assert "Hubs and coverage" in (tmp_path / name).read_text(encoding="utf-8")


def test_figures_are_written_where_asked(described: Path, tmp_path: Path, cli: Terminal) -> None:
    cli.rows("audio", "statistics", str(described), "--system", "random", "--figures", str(tmp_path / "new"))
    assert (tmp_path / "new" / "occurrences.svg").is_file()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere"], "nowhere: expected a folder made by 'adjudge audio prepare', got nothing of that name"),
        (["LAB/tracks.csv"], "tracks.csv: expected a library before runs, or --metadata FILE with them"),
        (["LAB/runs"], "runs: expected a library before runs, or --metadata FILE with them"),
        (["LAB", "--cutoffs", "5,x"], "--cutoffs: expected whole numbers with commas, such as 5,10, got '5,x'"),
        (["LAB", "--cutoffs", "0"], "--cutoffs: expected lengths of at least 1, got 0"),
        (["LAB", "LAB/runs", "--system", "tags"], "expected these or runs, got both"),
        (["LAB", "--system", "no"], "No baseline system is called 'no'. Known: "),
    ],
)
def test_statistics_that_cannot_be_are_refused_in_one_line(
    described: Path, cli: Terminal, arguments: list[str], said: str
) -> None:
    assert said in cli.refused("audio", "statistics", *placed(described, *arguments))


def test_every_system_is_listed_with_what_it_needs_in_every_form(tmp_path: Path, cli: Terminal) -> None:
    shown = cli.out("audio", "systems")
    assert all(system.about in shown for system in BASELINES.values())
    rows = cli.json("audio", "systems")
    assert [row["system"] for row in rows] == list(BASELINES)
    assert {row["system"]: row["features"] for row in rows}["combined"] == "timbre, rhythm"
    for name, first in (("a.csv", "system,features,about"), ("a.md", "| system | features | about |")):
        cli.out("audio", "systems", "-o", str(tmp_path / name))
        assert (tmp_path / name).read_text(encoding="utf-8").startswith(first)


WIDTHS = {"timbre": 230, "rhythm": 1320, "tonal": 96}


def make_library(folder: Path, documents: Sequence[str]) -> None:
    """A library whose features are there already, so that nothing has to be decoded."""
    (folder / "features").mkdir(parents=True)
    rows = {column: list(documents) if column.endswith(("document", "sha256")) else "1" for column in CLIP_COLUMNS}
    pl.DataFrame({"document": list(documents)}).write_csv(folder / "tracks.csv")
    pl.DataFrame(rows).write_csv(folder / "clips.csv")
    rng = np.random.default_rng(5)
    for name, width in WIDTHS.items():
        values = rng.random((len(documents), width))
        if name == "timbre":
            values[:, 20:] = np.eye(20)[np.triu_indices(20)]
        kept = dict(zip(documents, values, strict=True))
        save_values(folder, AUDIO_FEATURES[name], kept)


@pytest.fixture(scope="module")
def sounding_lab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small demo as files, and a library that has all of its documents but one."""
    folder = tmp_path_factory.mktemp("sound")
    assert main(["demo", "--queries", "3", "--ranks", "5", "--write", str(folder / "demo")]) == 0
    judged = pl.read_csv(folder / "demo" / "fine.csv")
    documents = sorted({*judged["document"].to_list(), *judged["query"].to_list()} - {judged["document"][0]})
    make_library(folder / "lab", documents)
    make_library(folder / "other", ["nobody", "knows"])
    judged.head(9).write_csv(folder / "few.csv")
    return folder


def placed(lab: Path, *words: str) -> list[str]:
    """Words in which LAB is a folder."""
    return [word.replace("LAB", str(lab)) for word in words]


ASKED = ["LAB/demo/runs", "--judgments", "LAB/few.csv", "--scale", "fine", "-m", "CG@5"]


def test_sound_is_said_and_stands_where_results_come_from(sounding_lab: Path, cli: Terminal) -> None:
    asked = placed(sounding_lab, "estimate", *ASKED)
    values = cli.json(*asked, "--sound", str(sounding_lab / "lab"))
    silent, heard = values["notes"][-2:]
    assert silent.startswith("1 of ")
    assert "unknown to the similarity" in silent
    n_heard = int(silent.split()[2]) - 1  # of the documents of the runs; the library has the queries, too
    assert heard == f"Sound of {n_heard} documents, compared by timbre, rhythm and harmony, is heard by hierarchical."
    assert any(one["file"].endswith("clips.csv") for one in values["provenance"]["inputs"])
    assert len(values["provenance"]["settings"]["sound"]) == 64
    without = cli.json(*asked)
    assert without["ranking"] != values["ranking"]
    assert "sound" not in without["provenance"]["settings"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["next", *ASKED, "-n", "2", "--csv"],
        ["simulate", "LAB/demo/fine.csv", "LAB/demo/runs", "-m", "CG@5", "--estimator", "output", "--estimator",
         "uniform", "--seeds", "1", "--at", "0.1", "--workers", "1", "--scale", "fine", "--metadata",
         "LAB/demo/metadata.csv"],
        ["calibrate", "LAB/demo/fine.csv", "LAB/demo/runs", "-m", "CG@5", "--estimator", "uniform", "--samples", "1",
         "--workers", "1"],
    ],
    ids=lambda arguments: arguments[0],
)  # fmt: skip
def test_all_commands_hear(sounding_lab: Path, cli: Terminal, arguments: list[str]) -> None:
    code, out, err = cli(*placed(sounding_lab, *arguments, "--sound", "LAB/lab"))
    assert code == 0, err
    who = {"next": "hierarchical", "simulate": "output and uniform", "calibrate": "uniform"}[arguments[0]]
    assert f"is heard by {who}" in out + err


@pytest.mark.parametrize(
    ("library", "said"),
    [
        ("nowhere", "expected a folder made by 'adjudge audio prepare', got nothing of that name"),
        ("demo", "expected a folder made by 'adjudge audio prepare', got one without tracks.csv"),
        ("other", "Similarity: expected that of some candidates, got none"),
    ],
)
def test_a_library_that_is_none_or_another_gets_one_line(
    sounding_lab: Path, cli: Terminal, library: str, said: str
) -> None:
    assert said in cli.refused(*placed(sounding_lab, "estimate", *ASKED, "--sound", f"LAB/{library}"))
