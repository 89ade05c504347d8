/* ASSERTION: strtok() goes on where it was in the same firing, across clauses, and forgets when that is over. */
#pragma D option quiet

BEGIN
{
	printf("%d\n", strtok(NULL, ",") == NULL);
	printf("%s\n", strtok(",,one,,two three", ","));
}

BEGIN
{
	printf("%s\n", strtok(NULL, ", "));
}

BEGIN
{
	printf("%s\n", strtok(NULL, ""));
	printf("%d %d\n", strtok(NULL, ",") == NULL, strtok(NULL, ",") == NULL);
	printf("%d %d\n", strtok("", ",") == NULL, strtok(",,", ",") == NULL);
	strtok("left over", " ");
}

tick-10ms
{
	printf("%d\n", strtok(NULL, " ") == NULL);
	exit(0);
}
