/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A cast to another system's type says that there is no such type.
 * @@exit: 1
 * @@stderr:   (vnode_of_elsewhere_t is no type
 */
BEGIN
{
	this->path = ((vnode_of_elsewhere_t *)arg0)->v_path;
}
