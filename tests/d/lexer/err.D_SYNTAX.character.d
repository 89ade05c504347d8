/* ASSERTION: D has no such character. */
BEGIN { x = 1 \ 2; }
