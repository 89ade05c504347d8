/* ASSERTION: %li takes no string. */
BEGIN
{
	printf("%li", "text");
	exit(0);
}
