/* ASSERTION: With one speculation and no commit, the second speculation() fails and is counted once. */
/* @@stderr: dtrace: [DTRACEDROP_SPECUNAVAIL] 1 failed speculation (no speculative buffer available) */
BEGIN { a = speculation(); b = speculation(); }
BEGIN { exit(0); }
