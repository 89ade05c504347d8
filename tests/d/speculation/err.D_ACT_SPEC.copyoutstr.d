/* ASSERTION: copyoutstr() may not follow speculate(). */
#pragma D option destructive
BEGIN { speculate(1); copyoutstr("", 1, 1); }
