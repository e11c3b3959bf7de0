"""Preferences: participants compare two lists of results."""
