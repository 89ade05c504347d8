/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: $target without -p and -W is refused, with a line that says what names it. Not with errtags.
 * @@exit: 1
 * @@stderr:   ($target is the process that -p or -W names
 */
pid$target::main:entry
{
}
