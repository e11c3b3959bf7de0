"""Simulated collections: margins of systems, their dependence (copulas), and both together."""
