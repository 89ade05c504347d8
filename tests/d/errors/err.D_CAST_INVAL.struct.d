/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: An integer cannot be cast to a struct.
 */
struct s {
	int a;
};

BEGIN
{
	this->v = (struct s)1;
}
