/* ASSERTION: There is no profile-1ns. */
profile-1ns
{
	exit(0);
}
