"""Notation for tests, made by hand."""

from __future__ import annotations

MEI = (
    '<mei xmlns="http://www.music-encoding.org/ns/mei"><music><body><mdiv><score>'
    '<scoreDef meter.count="4" meter.unit="4"><staffGrp><staffDef n="1" lines="5" clef.shape="G" clef.line="2"/>'
    '</staffGrp></scoreDef><section><measure n="1"><staff n="1"><layer n="1">%s</layer></staff></measure>'
    "</section></score></mdiv></body></music></mei>"
)
DOCTYPE = '<!DOCTYPE score-partwise PUBLIC "-//Recordare//DTD MusicXML 4.0 Partwise//EN" "http://www.musicxml.org/dtds/p.dtd">'


def pae(data: str, *, key: str = "", time: str = "4/4", clef: str = "G-2") -> str:
    """Plaine & Easie by fields."""
    return f"@clef:{clef}\n@keysig:{key}\n@timesig:{time}\n@data:{data}"


def mei(inside: str) -> str:
    """A bar of MEI."""
    return MEI % inside


def note(step: str, octave: int, duration: object, kind: str, more: str = "", *, alter: int | None = None) -> str:
    """A note of MusicXML, two divisions a quarter."""
    altered = "" if alter is None else f"<alter>{alter}</alter>"
    pitch = f"<pitch><step>{step}</step>{altered}<octave>{octave}</octave></pitch>"
    return f"<note>{pitch}<duration>{duration}</duration><type>{kind}</type>{more}</note>"


def musicxml(inside: str, *, doctype: str = DOCTYPE) -> str:
    """A bar of MusicXML in G major."""
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n{doctype}<score-partwise version="4.0"><work><work-title>Secret'
        '</work-title></work><part-list><score-part id="P1"><part-name>Music</part-name></score-part></part-list>'
        '<part id="P1"><measure number="1"><attributes><divisions>2</divisions><key><fifths>1</fifths></key>'
        "<time><beats>4</beats><beat-type>4</beat-type></time><clef><sign>G</sign><line>2</line></clef></attributes>"
        f"{inside}</measure></part></score-partwise>"
    )


BOMB = '<!DOCTYPE a [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]>'
FOREIGN = '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>'

RUBBISH = [
    ("", "got nothing"),
    (" \r\n\t ", "got nothing"),
    ("Dear all,", "expected Plaine & Easie, MusicXML or MEI, got 'Dear all,'"),
    ("漢字 🎵", "expected Plaine & Easie"),
    ("@clef:G-2\n@data:\0", "a byte of zero"),
    ("@clef:G-2", "expected notes"),
    ("@data:'4C", "expected a clef"),
    ("@clef:Q-9\n@data:'4C", "expected a clef such as G-2"),
    ("@clef:G-2\nrubbish\n@data:'4C", "x:2: expected a field"),
    ("@clef:G-2\n@data:'4C\n@data:'4D", "x:3: expected one @data"),
    ("@clef:G-2\n@keysig:xZ\n@data:'4C", "x:2: .*'Z'"),
    ("%G-2@c", "expected notes"),
    (pae(""), "expected notes"),
    (pae("zzz???"), "got 'z' at character 1"),
    (pae("'4CXD"), "got 'X' at character 4"),
    (pae("'4C_C"), "got '_'"),
    (pae("(((((("), "brackets and ! that end in turn, got '\\(' at character 2"),
    (pae("'4CD{EF"), "brackets and ! that end in turn"),  # this and the next ones end the engraver's process
    (pae("'4CDAi/(D{0.=3gBq{tEE3,D^F"), "characters of Plaine & Easie|brackets"),
    (pae("'4CD1{4C=6/}"), "brackets and ! that end in turn, got '='"),
    (pae("'4CD2'(!,(%}4%[(=7A})c-D"), "characters of Plaine & Easie"),
    (pae("'4^C^^"), "chord"),
    (pae("'4Cx/D"), "accidental"),
    (pae("'" * 500 + "4C"), "at most 5 octaves"),
    (pae("///"), "barline"),
    (pae("/"), "with notes, got none"),
    ("<html/>", "expected MusicXML or MEI"),
    ("<mei>", "well-formed"),
    ("<mei/>", "with notes, got none"),
    ("<mei><note/></mei>", "can be drawn|with notes"),
    (musicxml(""), "with notes, got none"),
    (musicxml(note("C", 4, 2, "quarter"), doctype=BOMB), "without a document type of its own"),
    (musicxml(note("C", 4, 2, "quarter"), doctype=FOREIGN), "without a document type of its own"),
    (musicxml(note("C", 99, 2, "quarter")), "pitches from C0 to C9"),
    (musicxml("<note><zzz/></note>"), "pitches|notes"),
    (musicxml(note("C", 4, 2, "quarter")).replace("partwise", "timewise"), "by parts"),
    ("<mei>" + "<section>" * 5000 + "<note/>" + "</section>" * 5000 + "</mei>", "at most 100 elements"),
    ("X:1\nCDEF", "expected Plaine & Easie"),
    ("X:1\nK:C\nCDEF", "x:1: .*got ABC .*MusicXML"),
    ("%abc-2.1\nX:1\nK:C\nCDEF", "x:1: .*got ABC .*MusicXML"),
]
