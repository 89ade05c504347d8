/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: Where the condition of ?: is an integer constant (a number, an inline, a macro argument, sizeof, or what
 * operators make of them), the chosen arm is the expression: it may be an action, and the other need not make sense.
 * @@args: 1 0
 */
#pragma D option quiet

inline int YES = 1;
inline int NO = !YES;
inline int PID = 0;
inline string NAME = "name";

BEGIN
{
	YES ? printf("inline\n") : 1;
	NO ? printf("never\n") : 1;
	NO ? 1 : printf("other arm\n");
	$1 ? printf("argument\n") : 1;
	$2 ? printf("never\n") : $1 ? printf("nested\n") : 1;
	YES && !NO || 0 ? printf("operators\n") : unknown;
	sizeof (int) == 4 ? printf("sizeof\n") : "a string";
	printf("%s\n", YES ? NAME : 7);
	YES ? @a["key"] = sum(3) : 1;
}

BEGIN
/PID ? pid == PID : 1/
{
	printa("%s %@d\n", @a);
	NO ? exit(3) : exit(0);
}
