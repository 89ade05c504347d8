/* ASSERTION: nspec refuses a value that is none. */
#pragma D option nspec=@none@

BEGIN
{
	exit(0);
}
