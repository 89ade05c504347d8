/* ASSERTION: each description of a list must match. */
BEGIN,
nothing:::here
{
	exit(0);
}
