/* ASSERTION: in a description too. */
tick-$1 { exit(0); }
