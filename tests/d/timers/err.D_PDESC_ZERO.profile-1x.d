/* ASSERTION: There is no profile-1x. */
profile-1x
{
	exit(0);
}
