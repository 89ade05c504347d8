/* ASSERTION: there are no floating-point constants. */
BEGIN { trace(.5); }
