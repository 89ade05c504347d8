/*
 * ASSERTION: aggsize does not matter to a program without aggregations.
 */
#pragma D option quiet
#pragma D option bufresize=manual
#pragma D option aggsize=100t
#pragma D option specsize=100t

BEGIN { printf("ran\n"); exit(0); }
