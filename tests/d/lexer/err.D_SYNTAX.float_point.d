/* ASSERTION: there are no floating-point constants. */
BEGIN { trace(1.5); }
