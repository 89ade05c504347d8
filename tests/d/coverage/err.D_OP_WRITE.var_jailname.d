/* ASSERTION: jailname is D's own: a program cannot assign to it. */
BEGIN
{
	jailname = "text";
	exit(0);
}
