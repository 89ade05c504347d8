/* ASSERTION: There is no profile-5001hz. */
profile-5001hz
{
	exit(0);
}
