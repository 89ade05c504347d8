/*
 * ASSERTION: a version that never was is refused.
 * @@stderr: dtrace: failed to compile script err.D_PRAGMA_OPTSET.version_unknown.d: [D_PRAGMA_OPTSET] line 5: failed to set option 'version' to '1.99': Requested version is not supported by compiler
 */
#pragma D option version=1.99
BEGIN { exit(0); }
