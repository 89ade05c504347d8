/* ASSERTION: An array that outgrows dynvarsize drops what it cannot keep. */
#pragma D option dynvarsize=4k
tick-200us { a[n++] = 1; }
tick-200us /n == 500/ { exit(0); }
