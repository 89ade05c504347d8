/* ASSERTION: jid can not be assigned to. */
BEGIN
{
	jid = 0;
	exit(0);
}
