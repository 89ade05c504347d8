/* ASSERTION: What is called must be a name. */
BEGIN
{
	this->x();
	exit(0);
}
