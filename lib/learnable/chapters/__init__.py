"""The chapters: studies, theory and baselines of each, on top of the library's methods; no chapter imports another."""
