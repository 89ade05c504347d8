/* ASSERTION: under version 1.0 what came later is not seen, so a program may have its own. */
#pragma D option quiet
#pragma D option version=1.0

int substr;
string json;
int sym[int];

BEGIN
{
	substr = 5;
	json = "mine";
	sym[substr] = 6;
	printf("%d %s %d\n", substr, json, sym[5]);
	exit(0);
}
