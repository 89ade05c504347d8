/* ASSERTION: D's own keywords are member names behind . and ->. */
#pragma D option quiet

struct s { int a; };

BEGIN
{
	this->string = 1;
	self->probe = 2;
	this->provider = 3;
	printf("%d %d %d\n", this->string, self->probe, this->provider);
	exit(0);
}
