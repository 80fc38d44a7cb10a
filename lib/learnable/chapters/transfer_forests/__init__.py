"""Transfer-learning forests: splits chosen with the labels of related tasks (Goussies, Ubalde, Mejail 2014)."""
