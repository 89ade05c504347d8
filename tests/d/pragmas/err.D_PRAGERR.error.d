/*
 * ASSERTION: #error ends the compilation with its words.
 * @@stderr: dtrace: failed to compile script err.D_PRAGERR.error.d: [D_PRAGERR] line 5: #error: not today if you please
 */
#error   not  today "if you" please
BEGIN { exit(0); }
