/*
 * ASSERTION: a version can be lowered, not raised again.
 * @@args: -x version=1.2
 * @@stderr: dtrace: failed to compile script err.D_PRAGMA_OPTSET.version_conflict.d: [D_PRAGMA_OPTSET] line 6: failed to set option 'version' to '1.5': Requested version conflicts with earlier setting
 */
#pragma D option version=1.5
BEGIN { exit(0); }
