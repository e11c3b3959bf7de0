"""What browsers show: the pages that all kinds of campaign share."""
