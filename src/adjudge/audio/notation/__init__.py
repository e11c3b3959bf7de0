"""Music as notation: files, checks, engraving, and the sound of it."""
