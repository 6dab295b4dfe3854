"""Quarry: answers to questions about your own documents, with citations that can be checked."""
