/* ASSERTION: speculate() wants its id. */
BEGIN { speculate(); }
