/* ASSERTION: an expression that needs more than the sixteen registers is refused. */
BEGIN
{
	x = pid + (tid + (pid + (tid + (pid + (tid + (pid + (tid + (pid + (tid + (pid + (tid + (pid + (tid +
	    (pid + (tid + (pid + tid))))))))))))))));
	exit(0);
}
