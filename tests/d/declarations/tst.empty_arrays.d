/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A member may be an array of no elements, as in headers of C: it takes no room, wherever it
 * stands, and what is behind it are its elements.
 */
#pragma D option quiet

struct message {
	int length;
	short words[0];
	char bytes[4 - sizeof(int)];
	char first, second;
	int (*pairs[0])[2];
};

union either {
	int none[0][3];
	char one;
};

BEGIN
{
	printf("%d %d\n", sizeof(struct message), sizeof(union either));
	printf("%d %d %d %d\n", offsetof(struct message, words), offsetof(struct message, bytes),
	    offsetof(struct message, second), offsetof(struct message, pairs));
	this->m = (struct message *)alloca(16);
	this->m->first = 'D';
	this->m->second = '!';
	this->m->words[1] = 4660;
	i = 1;
	printf("%c%c %d %d\n", this->m->bytes[0], this->m->bytes[i], this->m->words[0], this->m->words[i]);
	exit(0);
}
