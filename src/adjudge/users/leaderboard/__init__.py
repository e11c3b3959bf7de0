"""Leaderboards: the board and its claims, slices of queries, and how a report shows them."""
