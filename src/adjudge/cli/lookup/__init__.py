"""The commands that look up and convert: explain, measures, formats and convert."""
