/*
 * ASSERTION: #line takes a number and a quoted file.
 * @@stderr: dtrace: failed to compile script err.D_PRAGMA_MALFORM.line.d: [D_PRAGMA_MALFORM] line 5: malformed #line <line> [ ["file"] state ]
 */
#line ten
BEGIN { exit(0); }
