/* ASSERTION: The format of system() is a string constant. */
BEGIN
{
	system(execname);
	exit(0);
}
