/* ASSERTION: depends_on has a class and a name. */
#pragma D depends_on provider
BEGIN { exit(0); }
