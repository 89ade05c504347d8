/*
 * ASSERTION: what cpp refuses is not compiled.
 * @@cpp
 * @@exit: 1
 * @@stderr: dtrace: failed to compile script tst.fails.d: Preprocessor failed to process input program
 */
#ifdef NEVER
BEGIN { exit(0); }
