/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: The format must be a constant.
 */
BEGIN
{
	this->f = "x";
	printf(this->f);
}
