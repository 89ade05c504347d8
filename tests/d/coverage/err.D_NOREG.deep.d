/* ASSERTION: an expression that needs more than the eight registers is refused. */
BEGIN
{
	x = pid + (tid + (pid + (tid + (pid + (tid + (pid + (tid + (pid + tid))))))));
	exit(0);
}
