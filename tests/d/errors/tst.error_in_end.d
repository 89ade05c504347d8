/*
 * ASSERTION: A fault in END fires ERROR too; END's other clauses run, and a status given there is the one.
 * @@exit: 4
 */
#pragma D option quiet

BEGIN { exit(1); }
END { printf("one\n"); trace(*(int *)0); }
END { printf("two\n"); }
ERROR { printf("error %d\n", arg4); exit(4); }
