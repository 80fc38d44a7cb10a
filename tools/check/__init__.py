"""What refuses: import rules, budgets, planted errors, unwritten memory, slow first calls."""
