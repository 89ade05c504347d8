/*
 * ASSERTION: With -x noerror and an ERROR clause nothing is said of faults.
 */
#pragma D option quiet
#pragma D option noerror

ERROR { printf("handled %d\n", arg4); }
BEGIN { trace(*(int *)0); }
BEGIN { exit(0); }
