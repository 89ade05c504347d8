/*
 * ASSERTION: -x cpu=0 is the only CPU there is without a guest.
 */
#pragma D option quiet
#pragma D option cpu=0

BEGIN { printf("begin\n"); }
tick-10ms { printf("tick\n"); exit(0); }
END { printf("end\n"); }
