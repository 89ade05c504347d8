/* ASSERTION: So is an error in the predicate of an ERROR clause. */
ERROR
/ *(int *)8 == 1 /
{
	n++;
}

BEGIN { trace(*(int *)0); }
BEGIN { exit(n); }
