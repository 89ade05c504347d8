/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What happens to a link, as fuzz_link's inputs have it: steps, each a byte and a u16, little-endian. Any
 * other byte is a step that does nothing.
 */
#ifndef TESTS_FUZZ_LINK_STEPS_H
#define TESTS_FUZZ_LINK_STEPS_H

enum link_step {
	LINK_PACKET = 'p', /* a packet of so many bytes arrives: they follow */
	LINK_POLL = 'q',   /* the link is polled, and what came is taken if the number is not 0 */
	LINK_SEND = 's',   /* the link's user sends a message of so many bytes */
	LINK_TIME = 't',   /* so many ms go by */
	LINK_CLOSE = 'c',  /* the other end closes */
};

#endif
