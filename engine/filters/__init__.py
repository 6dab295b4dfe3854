"""The filter language: parsed, checked, compiled, and its meaning."""
