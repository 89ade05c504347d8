/* ASSERTION: speculate() may not follow data. */
BEGIN { trace(1); speculate(1); }
