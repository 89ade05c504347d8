/* ASSERTION: %P takes 16 bits. */
BEGIN
{
	printf("%P", 1);
}
