/* ASSERTION: brackets are closed. */
BEGIN { x[1 = 1; exit(0); }
