"""Adjudge beside its peers, in one run on the same machine: ``python -m benchmarks``."""
