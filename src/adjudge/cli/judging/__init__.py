"""The commands of low-cost judging: estimate, next, simulate and calibrate."""
