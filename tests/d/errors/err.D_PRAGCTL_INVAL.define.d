/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: #define needs the preprocessor.
 */
#define X 1

BEGIN
{
}
