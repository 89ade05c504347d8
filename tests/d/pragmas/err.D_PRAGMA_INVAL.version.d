/* ASSERTION: a binding's version is two or three numbers. */
#pragma D binding "one" x
int x;
BEGIN { exit(0); }
