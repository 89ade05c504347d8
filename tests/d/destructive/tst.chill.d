/* ASSERTION: chill() takes its time, at most 500 ms of each second; more is an illegal operation. */
#pragma D option quiet
#pragma D option destructive

BEGIN
{
	this->t = timestamp;
	chill(20000000);
}

BEGIN
{
	printf("%d\n", timestamp - this->t >= 20000000);
}

BEGIN
{
	chill(490000000);
}

BEGIN
{
	chill(500000001);
}

BEGIN
{
	chill(-1);
}

ERROR
{
	printf("%d\n", arg4 == DTRACEFLT_ILLOP);
}

BEGIN
{
	exit(0);
}
