"""Rankings: experts put the documents of a query in order."""
