"""Word-vector spaces of two or more languages, aligned."""
