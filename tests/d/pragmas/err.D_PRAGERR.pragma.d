/* ASSERTION: #pragma D error has the same effect. */
#pragma D error no
BEGIN { exit(0); }
