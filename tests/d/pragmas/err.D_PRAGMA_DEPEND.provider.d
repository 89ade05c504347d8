/*
 * ASSERTION: a provider that is not there cannot be depended on.
 * @@stderr: dtrace: failed to compile script err.D_PRAGMA_DEPEND.provider.d: [D_PRAGMA_DEPEND] line 5: program requires provider nobody
 */
#pragma D depends_on provider nobody
BEGIN { exit(0); }
