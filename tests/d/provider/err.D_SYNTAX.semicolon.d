/* ASSERTION: a provider's definition ends with a semicolon. */
provider acme { probe p(int); }
BEGIN { exit(0); }
