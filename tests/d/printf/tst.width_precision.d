/*
 * ASSERTION: Widths and precisions are constants or, for each *, an argument; a negative one aligns to
 * the left; a precision of 0 is none.
 */
#pragma D option quiet

BEGIN
{
	printf("%6d|%-6d|%6.3d|%.5d|\n", 7, 7, 7, 7);
	printf("%8s|%-8s|%.2s|%8.2s|%.0s|\n", "abcd", "abcd", "abcd", "abcd", "abcd");
	printf("%*d|%*d|%-*d|\n", 6, 7, -6, 7, 6, 7);
	printf("%.*s|%*.*s|%.*d|\n", 2, "abcd", 8, 2, "abcd", 4, 7);
	printf("%*s|%.*s|\n", 0, "abcd", 0, "abcd");
	printf("%*d|\n", (char)5, 7);
	exit(0);
}
