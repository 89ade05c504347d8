/* ASSERTION: A timer has no function. */
profile::clock:tick-1s { exit(0); }
