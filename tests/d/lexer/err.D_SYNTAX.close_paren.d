/* ASSERTION: nothing is closed that was not opened. */
BEGIN { exit(0)); }
