/* ASSERTION: exit() takes one status. */
BEGIN { exit(1, 2); }
