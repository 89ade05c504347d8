/*
 * ASSERTION: strtok() goes on in the other clauses of a firing, and has forgotten in the next.
 */
#pragma D option quiet

BEGIN { printf("%s\n", strtok("a b c d", " ")); }
BEGIN { printf("%s\n", strtok(NULL, " ")); this->s = strtok(NULL, " "); printf("%s\n", this->s); }
tick-10ms { printf("%s\n", strtok(NULL, " ")); }
ERROR { printf("fault %d\n", arg4); exit(0); }
