/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: An empty program.
 */

