/* ASSERTION: What finds no room in its speculation is a speculative drop. */
/* @@stderr: dtrace: [DTRACEDROP_SPEC] 1 speculative drop */
#pragma D option specsize=24
BEGIN { spec = speculation(); }
BEGIN { speculate(spec); trace(timestamp); }
BEGIN { speculate(spec); trace(timestamp); }
BEGIN { exit(0); }
