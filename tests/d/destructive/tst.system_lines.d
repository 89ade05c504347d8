/* ASSERTION: system() records data, so a clause with one has a line of its own. */
#pragma D option destructive

BEGIN
{
	system("echo out");
}

END
{
	system("echo %s", probename);
}

tick-1ms
{
	exit(0);
}
