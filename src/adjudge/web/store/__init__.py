"""What the server keeps: tables, and what reads and changes them. It knows neither HTTP nor kinds of campaign."""
