/*
 * ASSERTION: print() shows a value with its type: integers in hex, characters quoted, pointers in
 * hex, enums by their tags, strings quoted.
 */
#pragma D option quiet

enum colour { RED, GREEN = 5, BLUE = -2 };

BEGIN
{
	print(31);
	print(-1);
	print(0);
	print((short)-2);
	print((char)'x');
	print((char)4);
	print((char)0);
	print((int8_t)'y');
	print((uint8_t)65);
	print((uchar_t)'a');
	print((uint64_t)1 << 40);
	print(pid - pid);
	print((void *)10);
	print((enum colour)5);
	print((enum colour)-2);
	print((enum colour)7);
	print("hello");
	print("");
	print(probename);
	exit(0);
}
