/* ASSERTION: cleanrate=fast is no value for this option. */
#pragma D option cleanrate=fast
BEGIN { exit(0); }
