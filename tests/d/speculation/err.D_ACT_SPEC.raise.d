/* ASSERTION: raise() may not follow speculate(). */
#pragma D option destructive
BEGIN { speculate(1); raise(9); }
