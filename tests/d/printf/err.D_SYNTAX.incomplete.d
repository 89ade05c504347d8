/* ASSERTION: A conversion needs its letter. */
BEGIN
{
	printf("%-5", 1);
}
