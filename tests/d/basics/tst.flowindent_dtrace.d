/*
 * ASSERTION: With flowindent the heading and the lines are there in quiet mode too, and a probe that is
 * neither entry nor return has a bar.
 */
#pragma D option flowindent
#pragma D option quiet

BEGIN
{
	trace("one");
	trace(2);
}

BEGIN
{
	printf("two\n");
	exit(0);
}

END
{
	trace(3);
}
