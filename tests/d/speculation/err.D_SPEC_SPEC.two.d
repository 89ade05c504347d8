/* ASSERTION: One speculate() in a clause is enough. */
BEGIN { speculate(1); speculate(2); }
