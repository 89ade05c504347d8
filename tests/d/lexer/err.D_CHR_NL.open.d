/* ASSERTION: so does a character constant. */
BEGIN
{
	trace('
');
}
