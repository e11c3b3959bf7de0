"""From a folder of music to a library of clips: found, described, cut, levelled, and listed with their tags.

``scan`` finds recordings and gives them identifiers, ``tags`` reads what files and tables say of them. ``prepare`` does
all of it over processes and can be interrupted: ``excerpts`` chooses the part that people will hear, ``duplicates``
finds what is there twice. ``folder`` is the result, with its journal, which features, systems and campaigns read.
"""
