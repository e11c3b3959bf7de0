"""Judging: assessors grade documents, the most telling ones first."""
