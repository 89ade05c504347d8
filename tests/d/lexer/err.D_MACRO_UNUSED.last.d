/*
 * ASSERTION: the last argument must be used.
 * @@args: 1 2
 */
BEGIN { exit($1); }
