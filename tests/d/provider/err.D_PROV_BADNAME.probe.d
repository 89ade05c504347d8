/* ASSERTION: a probe's name has no module in it. */
provider acme { probe a`b(); };
