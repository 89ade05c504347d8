/*
 * ASSERTION: A clause's predicate is evaluated once, and applies to every part of the clause.
 */
#pragma D option quiet

int n;

BEGIN
/ n++ == 0 /
{
	if (n == 1)
		printf("in\n");
	printf("behind %d\n", n);
}

BEGIN
/ n == 7 /
{
	if (1)
		printf("not here\n");
	else
		printf("nor here\n");
	printf("nor behind\n");
}

BEGIN { printf("%d\n", n); exit(0); }
