"""Sound: from recordings to clips, to what they sound like, to baseline systems; music to try it on; and notation.

    sources                recordings of any kind, opened and checked
    loudness, clips        LUFS and dBTP; what people listen to, levelled, encoded and ready for a browser
    library/               from a folder of music to a library of clips, with their tags
    features/              what clips sound like, as numbers: timbre, rhythm, harmony
    systems/               baseline systems, their runs, and what can be said of them before anybody judges
    similarity             how alike documents sound, for estimates of relevance
    synthesis              the invented music of the demo collection, and a folder of it
    notation/              incipits in Plaine & Easie, MusicXML and MEI: checked, drawn, played

Nothing is imported here: soundfile, pyloudnorm and SciPy's signal processing load where they are used.
"""

from adjudge.lazy import attach

__getattr__, __dir__ = attach(__name__)
