/* ASSERTION: a string ends. */
BEGIN { trace("a\
