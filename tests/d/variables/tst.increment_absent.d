/*
 * ASSERTION: Absent elements and thread-locals count from 0, by every operator.
 */
#pragma D option quiet

BEGIN
{
	a["x"]++; ++a["x"]; a["x"] += 5;
	printf("%d\n", a["x"]);
	self->c[1]--;
	this->z = ++self->d;
	printf("%d %d %d %d\n", self->c[1], this->z, self->d--, self->d);
	exit(0);
}
