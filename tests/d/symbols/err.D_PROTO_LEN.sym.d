/* ASSERTION: sym() needs an address. */
BEGIN
{
	sym();
}
