/* ASSERTION: an id is one of a probe. */
123456
{
	exit(0);
}
