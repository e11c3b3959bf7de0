"""Rehearsals: simulated people who use a real server."""
