/* ASSERTION: a probe is declared once in its provider. */
provider acme { probe p(); probe p(); };
