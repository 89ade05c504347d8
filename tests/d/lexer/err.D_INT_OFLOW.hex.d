/*
 * ASSERTION: integers have 64 bits; the message has the constant as it is written.
 * @@stderr: dtrace: failed to compile script err.D_INT_OFLOW.hex.d: [D_INT_OFLOW] line 5: constant 0x10000000000000000UL results in integer overflow
 */
BEGIN { trace(0x10000000000000000UL); }
