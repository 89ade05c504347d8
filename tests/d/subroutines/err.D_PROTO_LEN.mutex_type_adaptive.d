/* ASSERTION: mutex_type_adaptive() insists on the number of its arguments. */
BEGIN
{
	mutex_type_adaptive((void *)8, 88);
	exit(0);
}
