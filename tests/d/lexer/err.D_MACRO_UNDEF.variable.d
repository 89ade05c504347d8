/* ASSERTION: there are no other macro variables. */
BEGIN { exit($status); }
