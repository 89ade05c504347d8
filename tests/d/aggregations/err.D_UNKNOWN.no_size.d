/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: An array of which no size is known is no key of an aggregation.
 * @@stderr: dtrace: failed to compile script err.D_UNKNOWN.no_size.d: [D_UNKNOWN] line 13: expression of unknown size may not be recorded: short [0]
 */
struct samples {
	int count;
	short first[0];
};

BEGIN
{
	this->s = (struct samples *)alloca(8);
	@[this->s->first] = count();
}
