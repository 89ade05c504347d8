/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A program may define the names of variables that no other DTrace has.
 */
#pragma D option quiet

inline string errname[int n] = n == 2 ? "ENOENT" : "?";
inline int guestid = 7;
string view;
int vcpu[int];

BEGIN
{
	view = "mine";
	vcpu[1] = 5;
	printf("%s %s %d %s %d\n", errname[2], errname[3], guestid, view, vcpu[1]);
	exit(0);
}
