/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: keys are integers, strings, structures and arrays as bytes, pointers, enumerators and addresses of symbols.
 */
#pragma D option quiet

struct pair {
	char letter;
	short number;
};

enum colour { RED = 3, BLUE };

struct pair first;
int row[2];

BEGIN
{
	first.letter = 'x';
	first.number = -2;
	row[0] = 1;
	row[1] = 2;
	@pair[first] = count();
	@pair[first] = count();
	@row[row] = count();
	@enum[BLUE] = count();
	@null[(char *)0, (void *)16] = count();
	@string[probename, "", 'c', "z"] = count();
	@addresses[usym(1), umod(2), uaddr(3)] = count();
	@kernel[sym(1), mod(2)] = count();
	@stack[stack(3), 1] = count();
	@many[1, 2, 3, 4, 5, 6, 7, 8, 9, 10] = count();
	printa("%d %d %d %d %d %d %d %d %d %d: %@d\n", @many);
	printa("%s%s%c%s\n", @string);
	printa("%A %A %A\n", @addresses);
	printa("%a %a\n", @kernel);
	printa("[%k] %d\n", @stack);
	exit(0);
}
