"""What surrounds a request: who asks, what they may do, how failures and pages look."""
