/*
 * ASSERTION: A condition may be any scalar, a pointer or a string comparison too, with side effects that happen once.
 */
#pragma D option quiet

BEGIN
{
	if (x++) printf("no\n"); else printf("0: %d\n", x);
	if (probename == "BEGIN" && strlen(probeprov) == 6) printf("string\n");
	if (!(void *)0) printf("null\n");
	exit(0);
}
