/*
 * ASSERTION: errors are reported in the lines of the script, whatever was included.
 * @@cpp
 * @@stderr: dtrace: failed to compile script err.D_IDENT_UNDEF.line.d: [D_IDENT_UNDEF] line 10: failed to resolve nothing: Unknown variable name
 */
#include <stdint.h>
#define LONG \
	1
BEGIN
{ trace(nothing);
}
