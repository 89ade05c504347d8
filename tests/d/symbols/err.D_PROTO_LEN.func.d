/* ASSERTION: func() takes one address. */
BEGIN
{
	func(1, 2);
}
