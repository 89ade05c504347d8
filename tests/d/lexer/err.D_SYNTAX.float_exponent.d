/* ASSERTION: there are no floating-point constants. */
BEGIN { trace(1e3); }
