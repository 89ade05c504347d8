/* ASSERTION: timestamp is D's own: a program cannot assign to it. */
BEGIN
{
	timestamp = 1;
	exit(0);
}
