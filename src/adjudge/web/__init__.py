"""Judging campaigns on the web: an application over a store, driven by pages, by an API and from the command line.

Layers, from the bottom: ``settings``; ``store`` (tables, transactions, migrations, and one module per subject, each a
set of functions over a connection); ``http`` (who is asking, headers, error pages, templates); ``kinds``, what a kind
of campaign is and what all kinds share; ``live``, the thread that turns answers into what to ask next and into
dashboard snapshots; ``api`` and ``pages``, which only translate HTTP; ``app``, which joins them; and each kind.
"""
