/* ASSERTION: names hold letters, digits and underscores; a bare @ is an aggregation of its own. */
#pragma D option quiet

BEGIN
{
	_a1 = 1;
	A_ = _a1 + 1;
	iff = A_ + 1;
	@ = sum(iff);
	@_ = sum(1);
	@whiles[1] = count();
	printf("%d %d %d\n", _a1, A_, iff);
	exit(0);
}
