/*
 * ASSERTION: A principal buffer that cannot be allocated is halved until it can, and its size is reported.
 * @@stderr: dtrace: buffer size lowered to
 */
#pragma D option quiet
#pragma D option preallocate=100t
#pragma D option bufresize=auto
#pragma D option bufsize=100t

BEGIN { printf("ran\n"); exit(0); }
