/* ASSERTION: speculation() hands out what nspec allows, then 0. */
#pragma D option quiet
#pragma D option nspec=2

BEGIN
{
	this->a = speculation();
	this->b = speculation();
	printf("%d %d %d\n", this->a > 0, this->b > 0 && this->a != this->b, speculation());
	exit(0);
}
