/* ASSERTION: copyinto() insists on the types of its arguments. */
BEGIN
{
	copyinto(1, 2, 3);
	exit(0);
}
