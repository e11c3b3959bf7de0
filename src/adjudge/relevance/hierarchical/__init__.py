"""The hierarchical estimator of relevance: effects, their posterior, scores of systems, and kriging for sound."""
