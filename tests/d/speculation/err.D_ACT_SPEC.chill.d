/* ASSERTION: chill() may not follow speculate(). */
#pragma D option destructive
BEGIN { speculate(1); chill(1); }
