/* ASSERTION: Timers are the profile provider's. */
timer:::tick-1s { exit(0); }
