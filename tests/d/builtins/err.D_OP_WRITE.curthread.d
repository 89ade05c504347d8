/* ASSERTION: curthread can not be assigned to. */
BEGIN
{
	curthread = 0;
	exit(0);
}
