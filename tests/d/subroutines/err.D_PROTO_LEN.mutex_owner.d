/* ASSERTION: mutex_owner() insists on the number of its arguments. */
BEGIN
{
	mutex_owner();
	exit(0);
}
