/* ASSERTION: system() may not be speculative. */
BEGIN
{
	speculate(1);
	system("true");
	exit(0);
}
