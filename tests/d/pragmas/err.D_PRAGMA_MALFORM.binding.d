/* ASSERTION: the version of a binding is quoted. */
#pragma D binding 1.2 x
int x;
BEGIN { exit(0); }
