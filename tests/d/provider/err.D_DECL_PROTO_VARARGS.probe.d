/* ASSERTION: a probe's arguments are no variable list. */
provider acme { probe p(int, ...); };
