"""Kinds of campaign: what they share and, a folder each, what is their own."""
