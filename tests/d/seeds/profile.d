/* Who has the CPUs? */
profile-1999
{
	@[execname] = count();
}

tick-3s
{
	exit(0);
}
