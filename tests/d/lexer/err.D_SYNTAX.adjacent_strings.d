/* ASSERTION: strings do not join. */
BEGIN { trace("a" "b"); }
