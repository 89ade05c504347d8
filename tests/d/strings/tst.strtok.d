/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: strtok goes on where it was, within one firing.
 */
#pragma D option quiet

BEGIN
{
	this->a = strtok("a,b;c", ",;");
	this->b = strtok(NULL, ",;");
	this->c = strtok(NULL, ",;");
	this->d = strtok(NULL, ",;");
	printf("%s %s %s %d\n", this->a, this->b, this->c, this->d == NULL);
	exit(0);
}
