/* ASSERTION: and what is said of a provider that is neither there nor declared. */
#pragma D attributes Stable/Stable/Common provider nobody name
BEGIN { exit(0); }
