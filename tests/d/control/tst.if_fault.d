/*
 * ASSERTION: A fault in one part of a clause with an if keeps its later parts from running; later clauses run. What was
 * recorded before stays.
 */
#pragma D option quiet

ERROR { printf("fault %d\n", arg4); }
BEGIN { printf("a\n"); if (1) { printf("b\n"); } if (*(int *)0) { printf("c\n"); } else { printf("d\n"); } printf("e\n"); }
BEGIN { if (1) { x = *(int *)0; printf("f\n"); } else { printf("g\n"); } printf("h\n"); }
BEGIN { if (1) { printf("i\n"); } printf("j\n"); exit(0); }
