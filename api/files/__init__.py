"""Files and folders to documents: one module a kind of file, and what finds, reads, names and remembers them."""
