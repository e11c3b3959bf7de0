"""Judging campaigns on the web: an application over a store, driven by pages, by an API and from the command line.

Layers, from the bottom: ``settings``, ``schema`` and ``database`` (tables, transactions, migrations); the store, one
module a subject (``campaigns``, ``people``, ``answering``, ``media``, …), each a set of functions over a connection;
``estimating`` and ``monitoring``, which turn answers into what to ask next and into the organiser's picture; ``api``
and ``pages``, which only translate HTTP; ``app``, which joins them.
"""
