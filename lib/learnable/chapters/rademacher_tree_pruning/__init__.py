"""Error certificates for pruned trees: Rademacher penalties, REP and k-REP (Kääriäinen, Malinen and Elomaa 2004)."""
