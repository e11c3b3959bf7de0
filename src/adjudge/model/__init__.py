"""Collections and results: runs, judgments, scales, metadata, effectiveness; identifiers coded to integers once."""
