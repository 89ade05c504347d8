/*
 * ASSERTION: exit() in a body ends the firing behind that body.
 */
#pragma D option quiet

BEGIN { if (1) { exit(0); printf("same body\n"); } printf("behind\n"); }
BEGIN { printf("next clause\n"); }
END { if (1) { printf("end\n"); } printf("end too\n"); }
