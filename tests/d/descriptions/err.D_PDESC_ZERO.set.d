/* ASSERTION: a negated set does not match its members. */
BEGI[!K-P]
{
	exit(0);
}
