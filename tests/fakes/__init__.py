"""Stand-ins for services outside the project, as real servers."""
