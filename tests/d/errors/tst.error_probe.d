/*
 * ASSERTION: In ERROR the probe is dtrace:::ERROR, whose clauses run in the place of the record that was given up, in the
 * order of the program, and see the variables that the clause has set.
 */
#pragma D option quiet

int a;

ERROR { printf("%s:%s:%s:%s %d %d\n", probeprov, probemod, probefunc, probename, id, a); }
BEGIN { printf("before\n"); }
BEGIN { a = 7; printf("not shown\n"); trace(*(int *)0); a = 8; }
ERROR { printf("second\n"); }
BEGIN { printf("behind\n"); exit(0); }
