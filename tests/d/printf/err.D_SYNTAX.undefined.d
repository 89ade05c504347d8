/* ASSERTION: A conversion that does not exist is refused. */
BEGIN
{
	printf("%z", 1);
}
