/* ASSERTION: statusrate=1fortnight is no value for this option. */
#pragma D option statusrate=1fortnight
BEGIN { exit(0); }
