/* ASSERTION: amin takes Name/Data/Class. */
#pragma D option amin=Stable/Stable
BEGIN { exit(0); }
