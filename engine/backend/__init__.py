"""What keeps and finds documents of a namespace."""
