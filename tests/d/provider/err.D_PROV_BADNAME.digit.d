/* ASSERTION: a provider's name does not end with a digit: there a process id goes. */
provider acme2 { probe p(); };
