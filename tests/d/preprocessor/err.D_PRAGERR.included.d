/* ASSERTION: without cpp an #error is D's. */
#error no
BEGIN { exit(0); }
