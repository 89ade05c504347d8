/* ASSERTION: a repeated declaration of a probe must have the same argument types. */
provider acme { probe p(int); };
provider acme { probe p(long); };
