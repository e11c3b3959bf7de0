"""What happens beside requests: learning from answers in the background."""
