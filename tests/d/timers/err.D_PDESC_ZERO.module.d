/* ASSERTION: A timer has no module. */
profile:unix::tick-1s { exit(0); }
