/* ASSERTION: specsize=2x is no value for this option. */
#pragma D option specsize=2x
BEGIN { exit(0); }
