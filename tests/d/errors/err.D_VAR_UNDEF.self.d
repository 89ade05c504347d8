/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A thread-local variable that is never assigned is undefined.
 */
BEGIN
{
	trace(self->nosuch);
}
