/* ASSERTION: lltostr() insists on the types of its arguments. */
BEGIN
{
	lltostr("1");
	exit(0);
}
