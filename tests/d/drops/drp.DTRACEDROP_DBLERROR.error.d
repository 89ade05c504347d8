/* ASSERTION: An error in an ERROR clause is counted and reported as such. */
/* @@stderr: dtrace: [DTRACEDROP_DBLERROR] 1 error in ERROR probe enabling */
ERROR { trace(*(int *)8); }
BEGIN { trace(*(int *)0); }
BEGIN { exit(0); }
