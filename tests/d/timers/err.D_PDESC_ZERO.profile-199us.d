/* ASSERTION: There is no profile-199us. */
profile-199us
{
	exit(0);
}
