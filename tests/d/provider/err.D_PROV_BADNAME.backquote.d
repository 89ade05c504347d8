/* ASSERTION: a provider's name has no module in it. */
provider acme`roadrunner { probe p(); };
