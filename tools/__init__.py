"""How the book is made. Run from the repository's root: ``python -m tools.<folder>.<module>``.

``make`` writes what people edit afterwards or what is stored, ``run`` executes notebooks and benchmarks, ``site``
writes the pages of the book, ``check`` refuses what must not be; ``project`` says where things are.
"""
