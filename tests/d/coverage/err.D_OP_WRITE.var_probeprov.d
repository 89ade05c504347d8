/* ASSERTION: probeprov is D's own: a program cannot assign to it. */
BEGIN
{
	probeprov = "text";
	exit(0);
}
