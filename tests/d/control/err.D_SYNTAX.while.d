/* ASSERTION: There are no loops. */
BEGIN { while (1) trace(1); }
