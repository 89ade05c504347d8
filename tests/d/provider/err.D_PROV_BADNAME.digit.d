/* ASSERTION: a provider's name must not end with a digit: a process id would be appended there. */
provider acme2 { probe p(); };
