/* ASSERTION: timestamp goes on from clause to clause, vtimestamp and walltimestamp are there. */
#pragma D option quiet

BEGIN
{
	this->t = timestamp;
	this->v = vtimestamp;
	this->w = walltimestamp;
	printf("%d %d\n", this->t == timestamp, this->w == walltimestamp);
}

BEGIN
{
	printf("%d %d %d\n", timestamp > this->t, vtimestamp >= this->v, walltimestamp >= this->w);
	printf("%d\n", walltimestamp > 1600000000000000000);
	exit(0);
}
