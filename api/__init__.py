"""Quarry over HTTP and on the command line."""
