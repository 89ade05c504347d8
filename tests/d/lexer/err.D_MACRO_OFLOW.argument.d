/*
 * ASSERTION: an argument that is a number fits 64 bits.
 * @@args: 18446744073709551616
 * @@stderr: dtrace: failed to compile script err.D_MACRO_OFLOW.argument.d: [D_MACRO_OFLOW] line 6: macro argument $1 constant 18446744073709551616 results in integer overflow
 */
BEGIN { trace($1); exit(0); }
