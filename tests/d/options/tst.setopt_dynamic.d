/*
 * ASSERTION: setopt() changes what is printed from its record on; what may not be changed any more says so.
 * @@stderr: dtrace: error on enabled probe ID 3 (ID 1: dtrace:::BEGIN): couldn't set option "bufsize" to "3m": Operation illegal when tracing is active
 */
BEGIN { setopt("quiet"); printf("quiet\n"); }
BEGIN { printf("still\n"); setopt("quiet", "no"); }
BEGIN { setopt("bufsize", "3m"); }
BEGIN { trace(1); exit(0); }
