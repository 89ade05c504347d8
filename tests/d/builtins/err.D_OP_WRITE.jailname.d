/* ASSERTION: jailname can not be assigned to. */
BEGIN
{
	jailname = "x";
	exit(0);
}
