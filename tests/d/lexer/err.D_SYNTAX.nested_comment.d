/* ASSERTION: comments do not nest. */
/* one /* two */ */ BEGIN { exit(0); }
