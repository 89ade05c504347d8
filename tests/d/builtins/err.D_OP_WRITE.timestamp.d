/* ASSERTION: timestamp can not be assigned to. */
BEGIN
{
	timestamp = 0;
	exit(0);
}
