/* ASSERTION: ufunc() takes one address. */
BEGIN
{
	ufunc(1, 2);
}
