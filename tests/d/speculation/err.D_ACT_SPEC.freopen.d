/* ASSERTION: freopen() may not follow speculate(). */
#pragma D option destructive
BEGIN { speculate(1); freopen("x"); }
