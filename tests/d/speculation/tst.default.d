/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: speculate() alone in a clause speculates the default action, a record without data: each one that is committed
 * is a line. One that is discarded is none.
 */
BEGIN { spec = speculation(); other = speculation(); }
BEGIN { speculate(spec); }
BEGIN { speculate(other); }
BEGIN { discard(other); }
BEGIN { commit(spec); }
BEGIN { exit(0); }
