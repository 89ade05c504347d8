/* ASSERTION: a provider that is there cannot be given probes. */
provider dtrace { probe mine(int); };
