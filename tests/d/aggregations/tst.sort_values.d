/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: entries sort by quotient, deviation, and histograms by the weight of their buckets, then by the count at 0.
 */
#pragma D option quiet

BEGIN
{
	@avg["two"] = avg(2);
	@avg["one, of many"] = avg(0);
	@avg["one, of many"] = avg(3);
	@avg["below"] = avg(-1);
	@dev["wide"] = stddev(1000);
	@dev["wide"] = stddev(2000);
	@dev["none"] = stddev(1000000);
	@q["8 once"] = quantize(8);
	@q["4 three times"] = quantize(4, 3);
	@q["-1"] = quantize(-1);
	@q["zeros"] = quantize(0, 5);
	@q["zero"] = quantize(0);
	@l["over"] = lquantize(1000, 0, 10);
	@l["nine"] = lquantize(9, 0, 10);
	@l["under"] = lquantize(-1000, 0, 10);
	@l["zero"] = lquantize(0, 0, 10);
	@ll["12"] = llquantize(12, 10, 0, 1, 10);
	@ll["over"] = llquantize(5000, 10, 0, 1, 10);
	@ll["3 nine times"] = llquantize(3, 10, 0, 1, 10, 9);
	printa("%s %@d\n", @avg);
	printa("%s %@d\n", @dev);
	printa("%s\n", @q);
	printa("%s\n", @l);
	printa("%s\n", @ll);
	exit(0);
}
