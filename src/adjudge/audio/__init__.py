"""Sound: clips levelled and ready for a browser, and the invented music of the demo collection.

``adjudge.audio.loudness`` measures (LUFS, dBTP), ``adjudge.audio.clips`` checks, levels and encodes what people will
listen to, ``adjudge.audio.synthesis`` plays the demo's 3,000 tracks. Nothing is imported here: soundfile, pyloudnorm
and SciPy's signal processing load where they are used.
"""
