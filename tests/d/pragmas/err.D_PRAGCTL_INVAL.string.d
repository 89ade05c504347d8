/* ASSERTION: a control line begins with a word or a number. */
# "include"
BEGIN { exit(0); }
