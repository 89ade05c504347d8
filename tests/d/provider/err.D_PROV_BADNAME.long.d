/* ASSERTION: a provider's name has at most 63 characters. */
provider aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffgggg { probe p(); };
