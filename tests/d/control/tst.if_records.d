/*
 * ASSERTION: A body with data prints a line of its own, as do the statements before and after it; a body without data
 * prints none.
 */
BEGIN { trace(1); if (1) { trace(2); trace(3); } trace(4); }
BEGIN { if (0) { trace(5); } else { x = 1; } }
BEGIN { if (x) { x = 2; } trace(x); }
BEGIN { exit(0); }
