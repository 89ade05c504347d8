/* ASSERTION: one depends on a provider, a module or a library. */
#pragma D depends_on kernel linux
BEGIN { exit(0); }
