/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A bare specifier in a file is no program.
 */
BEGIN
