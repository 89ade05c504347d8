<?php
// SPDX-License-Identifier: GPL-2.0-or-later
// At each line of its input it serves some orders, and says what was called: "-> LEVEL NAME", "<- LEVEL NAME", then "done". PHP
// passes its probes of functions only if it was started with USE_ZEND_DTRACE=1.

$said = [];
$level = 0;

class Shop
{
	function price($goods)
	{
		global $said, $level;
		$said[] = "-> " . $level++ . " Shop::price";
		$total = array_sum($goods);
		$said[] = "<- " . --$level . " Shop::price";
		return $total;
	}

	static function order($number)
	{
		global $said, $level;
		$said[] = "-> " . $level++ . " Shop::order";
		$total = 0;
		foreach ([3, 5] as $first)
			$total += (new Shop)->price(range($first, $first + $number));
		$said[] = "<- " . --$level . " Shop::order";
		return $total;
	}
}

function refuse($number)
{
	global $said, $level;
	$said[] = "-> $level refuse";
	$said[] = "<- $level refuse";
	throw new Exception("no order $number");
}

function serve($orders)
{
	global $said, $level;
	$said[] = "-> " . $level++ . " serve";
	for ($number = 0; $number < $orders; $number++) {
		try {
			$number % 5 ? Shop::order($number) : refuse($number);
		} catch (Exception $e) {
		}
	}
	$said[] = "<- " . --$level . " serve";
}

echo "ready\n";
while (fgets(STDIN) !== false) {
	serve(20);
	echo implode("\n", $said), "\ndone\n";
	$said = [];
}
