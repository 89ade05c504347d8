/*
 * ASSERTION: In quiet mode trace() shows values without columns; text that fills its array keeps them.
 */
#pragma D option quiet

char text[5];
char full[3];

BEGIN
{
	text[0] = 'a';
	text[1] = '\n';
	full[0] = full[1] = full[2] = 'x';
	trace((char)-1);
	trace("|");
	trace((short)-1);
	trace("|");
	trace(-1);
	trace("|");
	trace(-1LL);
	trace("|");
	trace(text);
	trace("|");
	trace(full);
	trace("|");
	exit(0);
}
