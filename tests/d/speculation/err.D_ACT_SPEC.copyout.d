/* ASSERTION: copyout() may not follow speculate(). */
#pragma D option destructive
BEGIN { speculate(1); copyout(0, 1, 1); }
