/*
 * ASSERTION: attributes of a name that never comes are an error at the end.
 * @@stderr: dtrace: failed to compile script err.D_PRAGMA_UNUSED.attributes.d: [D_PRAGMA_UNUSED] line 7: unused #pragma attributes
 */
#pragma D attributes Stable/Stable/Common nobody
BEGIN { exit(0); }
