"""From a folder of music to a library of clips: found, described, cut, levelled, and listed with their tags.

``scanning`` finds recordings, ``naming`` gives them identifiers, ``tags`` reads what files and tables say of them, and
``matching`` finds the recording that a row of a table is about. ``preparing`` does all of it over processes and can be
interrupted: ``making`` is what is done with one recording, ``excerpts`` chooses the part that people will hear,
``duplicates`` finds what is there twice, ``choosing`` says what is kept and how loud it will be, ``journal`` remembers
how far it went. ``folder`` is the result, which features, systems and campaigns read.
"""
