/*
 * ASSERTION: D has no other pragmas.
 * @@stderr: dtrace: failed to compile script err.D_PRAGMA_INVAL.unknown.d: [D_PRAGMA_INVAL] line 5: invalid D pragma: pack
 */
#pragma D pack 1
BEGIN { exit(0); }
