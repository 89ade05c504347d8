/*
 * ASSERTION: %c prints a character, %C and %S print it, or a string, as C would spell it.
 */
#pragma D option quiet

char word[8];

BEGIN
{
	word[0] = 'a';
	word[1] = '\n';
	word[2] = 'b';
	printf("%c%c%c|%4c|%-4c|\n", 'a', (char)'b', (short)'c', 'd', 'e');
	printf("%C%C%C%C%C|\n", 'a', '\t', '\0', '"', 1);
	printf("%S|%S|%8S|\n", "tab\tquote\"back\\slash", word, "a\n");
	printf("%s|\n", word);
	exit(0);
}
