/* ASSERTION: a comment ends. */
BEGIN { exit(0); } /* not
