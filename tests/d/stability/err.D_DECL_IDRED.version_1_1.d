/* ASSERTION: substr() came with 1.1: there its name is taken. */
#pragma D option version=1.1

int substr;

BEGIN
{
	exit(0);
}
