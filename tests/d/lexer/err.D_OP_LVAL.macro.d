/* ASSERTION: a macro variable is a constant. */
BEGIN { $pid = 1; exit(0); }
