/* ASSERTION: a number ends before a word. */
BEGIN { trace(12ab); }
