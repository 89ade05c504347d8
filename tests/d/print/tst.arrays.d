/*
 * ASSERTION: print() shows arrays in brackets, characters as a string where they are one.
 */
#pragma D option quiet

int numbers[3];
char word[4];
char grid[2][3];

BEGIN
{
	numbers[0] = 1;
	numbers[2] = 255;
	word[0] = 'o';
	word[1] = 'k';
	print(numbers);
	print(word);
	word[2] = 'a';
	word[3] = 'y';
	print(word);
	grid[0][0] = 'x';
	grid[1][0] = 'y';
	print(grid);
	exit(0);
}
