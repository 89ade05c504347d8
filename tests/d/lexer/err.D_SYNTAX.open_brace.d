/* ASSERTION: braces are closed. */
BEGIN { exit(0);
