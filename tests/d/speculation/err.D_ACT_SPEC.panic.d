/* ASSERTION: panic() may not follow speculate(). */
#pragma D option destructive
BEGIN { speculate(1); panic(); }
