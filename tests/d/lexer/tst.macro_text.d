/*
 * ASSERTION: an argument that begins as a number is one as far as it goes; escapes in a string
 * are resolved, quoted or not; what is neither name nor number is a string.
 * @@args: 12x 08 'a\tb c' '"d\x41"' 'e\101' + 'x.y' ''
 */
#pragma D option quiet

BEGIN
{
	printf("%d %d [%s] [%s] [%s] [%s] [%s]\n", $1, $2, $3, $4, $$5, $6, $7);
	printf("[%s]\n", $8);
	exit(0);
}
