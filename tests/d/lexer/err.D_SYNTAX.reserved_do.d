/* ASSERTION: do is reserved. */
BEGIN { do; }
