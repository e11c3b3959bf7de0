"""Generalizability Theory: what effectiveness varies with, and how large a collection must be to be trusted."""
