/* ASSERTION: cpphdrs is for the command line only. */
#pragma D option cpphdrs=1

BEGIN
{
	exit(0);
}
