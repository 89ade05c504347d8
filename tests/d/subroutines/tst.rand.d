/* ASSERTION: rand() gives another number each time, of type int. */
#pragma D option quiet

BEGIN
{
	this->a = rand();
	this->b = rand();
	this->c = rand();
	printf("%d %d\n", this->a != this->b || this->b != this->c, sizeof (rand()));
	exit(0);
}
