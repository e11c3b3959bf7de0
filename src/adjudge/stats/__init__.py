"""Statistics of effectiveness: what a mean of queries says about queries that were not asked."""
