/* ASSERTION: mod() takes no string. */
BEGIN
{
	mod("kernel");
}
