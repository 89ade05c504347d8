/* ASSERTION: #pragma D error does the same. */
#pragma D error no
BEGIN { exit(0); }
