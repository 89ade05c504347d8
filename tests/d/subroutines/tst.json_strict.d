/* ASSERTION: json() gives nothing where the document breaks the rules before what is asked for. */
#pragma D option quiet
#pragma D option strsize=512

BEGIN
{
	this->d = "[1, -2.5e+3, \"q\\u00e9\\n\", true, {\"k\": [10, {\"x\": null}]}, 0x10, \"after\"]";
	printf("%s %s %s %s\n", json(this->d, "0"), json(this->d, "[1]"), json(this->d, "2"), json(this->d, "3"));
	printf("%s %s %s\n", json(this->d, "4"), json(this->d, "4.k[1]"), json(this->d, "4.k[1].x"));
	printf("%d %d\n", json(this->d, "5") == NULL, json(this->d, "6") == NULL);
	printf("%d %d %d\n", json(this->d, "-1") == NULL, json(this->d, "k") == NULL, json(this->d, "0.k") == NULL);
	printf("%d\n", json("[\"bad \\x escape\"]", "0") == NULL);
	printf("%d\n", json("[\"bad \\u12G4\"]", "0") == NULL);
	printf("%d %d %d\n", json("[tru]", "0") == NULL, json("[1.]", "0") == NULL, json("[-]", "0") == NULL);
	printf("%d %d %d\n", json("{a: 1}", "a") == NULL, json("[1", "1") == NULL, json("", "0") == NULL);
	printf("%d\n", json("{\"a\": [1, 2}, \"b\": 3}", "b") == NULL);
	exit(0);
}
