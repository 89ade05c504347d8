/* ASSERTION: %T takes 64 bits. */
BEGIN
{
	printf("%T", 1);
}
