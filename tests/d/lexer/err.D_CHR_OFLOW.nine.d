/* ASSERTION: and not more than eight. */
BEGIN { trace('abc\101efghi'); }
