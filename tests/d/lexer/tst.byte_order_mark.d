/* ASSERTION: UTF-8's mark, which some editors write in front of a text, is not a part of the program. */
#pragma D option quiet

BEGIN
{
	printf("%s %d\n", "µs", strlen("µs"));
	exit(0);
}
