/* ASSERTION: An action has no value that a subroutine could take. */
BEGIN
{
	strlen(exit(1));
	exit(0);
}
