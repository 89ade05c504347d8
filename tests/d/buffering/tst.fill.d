/*
 * ASSERTION: With the fill policy the first record that finds no room ends tracing, with status 0; END's room was kept.
 */
#pragma D option quiet
#pragma D option bufpolicy=fill
#pragma D option bufsize=128

tick-1ms { printf("%d\n", n++); }
END { printf("end\n"); }
