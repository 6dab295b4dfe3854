"""From a draft to what leaves a search: one gate for every word, excerpts out of live documents, markers by code."""
