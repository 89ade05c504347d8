/*
 * ASSERTION: an argument must have been given.
 * @@args: one
 * @@stderr: dtrace: failed to compile script err.D_MACRO_UNDEF.argument.d: [D_MACRO_UNDEF] line 6: macro argument $2 is not defined
 */
BEGIN { trace($$1); exit($2); }
