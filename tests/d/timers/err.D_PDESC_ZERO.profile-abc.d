/* ASSERTION: There is no profile-abc. */
profile-abc
{
	exit(0);
}
