/*
 * ASSERTION: So is an aggregation buffer.
 * @@stderr: dtrace: aggregation size lowered to
 */
#pragma D option quiet
#pragma D option aggsize=100t

BEGIN { @["n"] = count(); printa("%s %@d\n", @); exit(0); }
