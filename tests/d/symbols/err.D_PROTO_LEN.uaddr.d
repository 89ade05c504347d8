/* ASSERTION: uaddr() takes one address. */
BEGIN
{
	uaddr(1, 2);
}
