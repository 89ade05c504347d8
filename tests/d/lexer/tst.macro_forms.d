/*
 * ASSERTION: an argument is an integer, a name or a string by its first character; with two dollars
 * always a string; quotes around it are not part of it.
 * @@args: 0x1f +7 probename "'two words'" '"quoted"' 07 1
 */
#pragma D option quiet

inline int first = $1;

BEGIN
/$7/
{
	printf("%d %d %s\n", first, $2, $3);
	printf("[%s] [%s] [%s] [%s]\n", $4, $5, $$1, $$3);
	printf("%d %d\n", $6, sizeof($1));
	printf("%s %s\n", $0, $$0);
	exit(0);
}
