/*
 * ASSERTION: a version is two or three numbers.
 * @@stderr: dtrace: failed to compile script err.D_PRAGMA_OPTSET.version_malformed.d: [D_PRAGMA_OPTSET] line 5: failed to set option 'version' to 'new': Version is not properly formatted or is too large
 */
#pragma D option version=new
BEGIN { exit(0); }
