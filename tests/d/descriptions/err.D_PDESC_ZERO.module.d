/* ASSERTION: fields are filled from the right. */
dtrace:BEGIN
{
	exit(0);
}
