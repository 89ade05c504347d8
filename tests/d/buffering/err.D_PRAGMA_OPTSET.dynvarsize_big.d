/* ASSERTION: dynvarsize=big is no value for this option. */
#pragma D option dynvarsize=big
BEGIN { exit(0); }
