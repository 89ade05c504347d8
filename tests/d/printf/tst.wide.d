/*
 * ASSERTION: %ls %ws print arrays of wide characters and %lc %wc one, as UTF-8.
 */
#pragma D option quiet

int word[4];

BEGIN
{
	word[0] = 'h';
	word[1] = 0xe9;
	word[2] = 0x20ac;
	printf("%ls|%ws|%lc|%wc|\n", word, word, 0x20ac, 'x');
	exit(0);
}
