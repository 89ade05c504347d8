/* ASSERTION: usym() takes no string. */
BEGIN
{
	usym("main");
}
