"""What writes files that are kept: chapters, student notebooks, stored data sets, a project of ninety chapters."""
