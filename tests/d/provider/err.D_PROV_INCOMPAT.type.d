/* ASSERTION: declared again, a probe's arguments have the types that they had. */
provider acme { probe p(int); };
provider acme { probe p(long); };
