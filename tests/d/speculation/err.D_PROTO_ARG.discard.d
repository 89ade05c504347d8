/* ASSERTION: discard()'s id is an integer. */
BEGIN { discard("one"); }
