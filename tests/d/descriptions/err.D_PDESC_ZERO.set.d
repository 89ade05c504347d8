/* ASSERTION: a negated set does not match what is in it. */
BEGI[!K-P]
{
	exit(0);
}
