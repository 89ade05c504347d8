/*
 * ASSERTION: options of the preprocessor and of libraries are the command line's.
 * @@cpp
 * @@args: -q -x cpphdrs=no -x cpppath=cpp -x cppargs=-P -x define=SEVEN=7 -x undef=EIGHT -x incdir=. -x stdc=a -x nolibs -x libdir=. -x syslibdir=. -x ctypes=/dev/null -x dtypes=/dev/null -x ldpath=/bin/ld -x objcopypath=/bin/objcopy
 */
BEGIN
{
	printf("%d\n", SEVEN);
	exit(0);
}
