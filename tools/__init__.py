"""How the book is made: execution, generated pages, checks. Run from the repository's root."""
