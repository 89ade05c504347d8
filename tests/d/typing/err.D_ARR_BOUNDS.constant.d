/* ASSERTION: A constant index is compared with the array's length when the program is compiled. */
int slots[5];

BEGIN
{
	slots[4] = 1;
	slots[5] = 1;
	exit(0);
}
