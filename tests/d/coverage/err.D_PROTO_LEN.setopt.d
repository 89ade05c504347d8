/* ASSERTION: setopt() takes an option and perhaps a value. */
BEGIN
{
	setopt("quiet", "yes", "no");
	exit(0);
}
