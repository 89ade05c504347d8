/* ASSERTION: declared again, a provider has no other probes. */
provider acme { probe p(int); };
provider acme { probe q(int); };
