"""Migrations of the tables, from the first version on."""
