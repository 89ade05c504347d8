/*
 * ASSERTION: Aggregations, speculations and this-> work in bodies and across them.
 */
#pragma D option quiet

BEGIN
{
	this->x = 3;
	if (this->x == 3) {
		@["three"] = count();
		this->y = this->x + 1;
	} else {
		@["other"] = count();
	}
	printf("%d\n", this->y);
	printa("%s %@d\n", @);
	exit(0);
}
