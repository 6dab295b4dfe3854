"""Conversations over everyday documents, of which only the follow-ups are scored.

``open`` and ``closed`` hold the same kinds of texts; only what goes wrong in ``open`` may be looked at.
"""
