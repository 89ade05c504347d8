/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: An array of which no size is known has no value to record: its elements have.
 * @@stderr: dtrace: failed to compile script err.D_UNKNOWN.no_size.d: [D_UNKNOWN] line 13: expression of unknown size may not be recorded: char [0]
 */
struct packet {
	int length;
	char bytes[];
};

BEGIN
{
	this->p = (struct packet *)alloca(8);
	trace(this->p->bytes);
}
