/*
 * ASSERTION: an argument that is a number fits 64 bits.
 * @@args: 18446744073709551616
 */
BEGIN { trace($1); exit(0); }
