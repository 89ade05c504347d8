/* SPDX-License-Identifier: GPL-2.0-or-later */
/* examples.list as bytes in the program: cli/CMakeLists.txt makes it. */
#ifndef CLI_EXAMPLES_H
#define CLI_EXAMPLES_H

/** Paragraphs with an empty line between two; a paragraph that begins with "#" is a remark. Each other
 * paragraph has three lines: a question, the command line that answers it, and an explanation of the answer.
 * Ends with a NUL. */
extern const char cli_examples[];

#endif
