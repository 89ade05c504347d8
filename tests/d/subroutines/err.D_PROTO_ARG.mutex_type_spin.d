/* ASSERTION: mutex_type_spin() insists on the types of its arguments. */
BEGIN
{
	mutex_type_spin("spin");
	exit(0);
}
