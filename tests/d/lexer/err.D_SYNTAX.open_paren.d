/* ASSERTION: parentheses are closed. */
BEGIN { exit((0); }
