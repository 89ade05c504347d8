/* ASSERTION: jid is D's own: a program cannot assign to it. */
BEGIN
{
	jid = 1;
	exit(0);
}
