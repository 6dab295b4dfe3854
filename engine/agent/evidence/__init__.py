"""What passages hold of a question: one table a turn, which the steps reduce."""
