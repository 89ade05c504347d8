/* ASSERTION: There is no tick--1. */
tick--1
{
	exit(0);
}
