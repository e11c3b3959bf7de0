"""From a folder of music to a library of clips: found, described, cut, levelled, and listed with their tags.

``scan`` finds recordings and gives them identifiers, ``tags`` reads what files and tables say about them. ``prepare``
runs all steps over processes and can be interrupted: ``excerpts`` chooses the part that people will hear,
``duplicates`` finds repeated recordings. ``folder`` is the result, which features, systems and campaigns read, and its
journal.
"""
