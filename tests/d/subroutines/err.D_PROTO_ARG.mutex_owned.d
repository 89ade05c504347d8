/* ASSERTION: mutex_owned() insists on the types of its arguments. */
BEGIN
{
	mutex_owned(99);
	exit(0);
}
