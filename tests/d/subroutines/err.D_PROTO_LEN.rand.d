/* ASSERTION: rand() insists on the number of its arguments. */
BEGIN
{
	rand(1);
	exit(0);
}
