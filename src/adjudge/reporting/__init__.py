"""Results for people and papers: tables as text, CSV, JSON and LaTeX."""
