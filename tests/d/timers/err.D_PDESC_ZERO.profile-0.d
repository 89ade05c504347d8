/* ASSERTION: There is no profile-0. */
profile-0
{
	exit(0);
}
