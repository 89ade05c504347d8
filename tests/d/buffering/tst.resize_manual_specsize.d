/*
 * ASSERTION: With bufresize=manual a specsize that cannot be allocated is an error.
 * @@exit: 1
 * @@stderr: dtrace: could not enable tracing:
 */
#pragma D option bufresize=manual
#pragma D option specsize=100t

BEGIN { spec = speculation(); @n = count(); a[1] = 1; }
BEGIN { speculate(spec); trace(1); }
BEGIN { exit(0); }
