/* ASSERTION: declared again, a probe has as many arguments as before. */
provider acme { probe p(int); };
provider acme { probe p(int, int); };
