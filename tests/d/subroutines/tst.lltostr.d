/* ASSERTION: lltostr() writes every base from 2 to 36; only base 10 has a sign. */
#pragma D option quiet

BEGIN
{
	printf("%s %s %s\n", lltostr(0), lltostr(-1), lltostr(-9223372036854775807 - 1));
	printf("%s %s %s\n", lltostr(10, 2), lltostr(10, 8), lltostr(255, 16));
	printf("%s %s %s\n", lltostr(0, 8), lltostr(0, 16), lltostr(35, 36));
	printf("%s\n", lltostr(-1, 2));
	printf("%s %s\n", lltostr(-1, 8), lltostr(-1, 16));
	printf("%s\n", lltostr(1295, 36));
	exit(0);
}
