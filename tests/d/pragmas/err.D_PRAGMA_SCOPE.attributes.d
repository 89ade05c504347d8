/*
 * ASSERTION: a program cannot change the attributes of what it did not define.
 * @@stderr: dtrace: failed to compile script err.D_PRAGMA_SCOPE.attributes.d: [D_PRAGMA_SCOPE] line 5: #pragma attributes cannot modify entity defined outside program scope
 */
#pragma D attributes Stable/Stable/Common execname
BEGIN { exit(0); }
