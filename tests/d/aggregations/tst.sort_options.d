/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: aggsortkey, aggsortkeypos and aggsortrev order entries; a position behind the last key is the first.
 */
#pragma D option quiet

BEGIN
{
	@a["b", 1, -1] = sum(30);
	@a["a", 2, 1] = sum(30);
	@a["c", 3, 0] = sum(-10);
	@a["a", 1, 7] = sum(20);
	printa("%s %d %d: %@d\n", @a);
	printf("aggsortrev\n");
	setopt("aggsortrev");
	printa("%s %d %d: %@d\n", @a);
	printf("aggsortrev, aggsortkey\n");
	setopt("aggsortkey");
	printa("%s %d %d: %@d\n", @a);
	printf("aggsortkey\n");
	setopt("aggsortrev", "no");
	printa("%s %d %d: %@d\n", @a);
	printf("aggsortkeypos=1\n");
	setopt("aggsortkeypos", "1");
	printa("%s %d %d: %@d\n", @a);
	printf("aggsortkeypos=2\n");
	setopt("aggsortkeypos", "2");
	printa("%s %d %d: %@d\n", @a);
	printf("aggsortkeypos=3\n");
	setopt("aggsortkeypos", "3");
	printa("%s %d %d: %@d\n", @a);
	printf("by value, ties by key 2\n");
	setopt("aggsortkey", "unset");
	setopt("aggsortkeypos", "2");
	printa("%s %d %d: %@d\n", @a);
	exit(0);
}
