"""Alignments of hidden Markov models: Viterbi, PMAP and everything in between (Lember 2012, Ch. 7)."""
