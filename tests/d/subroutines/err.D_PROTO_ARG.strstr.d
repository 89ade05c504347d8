/* ASSERTION: strstr() insists on the types of its arguments. */
BEGIN
{
	strstr("abc", 'b');
	exit(0);
}
