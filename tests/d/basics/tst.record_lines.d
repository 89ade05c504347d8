/*
 * ASSERTION: Several statements, and several clauses, print in their order, with one line for each clause.
 */
BEGIN
{
	printf("a");
	trace("b");
	printf("%d", 1);
}

BEGIN
{
	x = 1;
}

BEGIN
{
	printf("two\nlines");
	trace(3);
}

BEGIN
{
}

END
{
	printf("end");
}

BEGIN
{
	exit(0);
}
