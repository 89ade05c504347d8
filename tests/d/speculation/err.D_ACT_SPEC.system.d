/* ASSERTION: system() may not follow speculate(). */
#pragma D option destructive
BEGIN { speculate(1); system("true"); }
