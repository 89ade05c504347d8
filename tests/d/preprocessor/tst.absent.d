/*
 * ASSERTION: a cpp that is not there is an error.
 * @@cpp
 * @@args: -x cpppath=/nonexistent/cpp
 * @@exit: 1
 * @@stderr: dtrace: failed to compile script tst.absent.d: Failed to find /nonexistent/cpp
 */
BEGIN { exit(0); }
