/*
 * ASSERTION: exit() in ERROR ends tracing as anywhere else: END still fires.
 * @@exit: 3
 */
#pragma D option quiet

ERROR { printf("error\n"); exit(3); }
BEGIN { *(char *)NULL; exit(1); }
BEGIN { printf("not run\n"); }
END { printf("end\n"); }
