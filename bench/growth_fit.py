# SPDX-License-Identifier: GPL-2.0-or-later
"""How a cost grows with a size, fitted robustly: a slope is the median of the slopes between all pairs of sizes (Theil and
Sen), so that a figure that other load has lengthened does not bend it."""
import math
import statistics


def slope(points):
    """Of (x, y)."""
    return statistics.median((y2 - y1) / (x2 - x1) for i, (x1, y1) in enumerate(points) for x2, y2 in points[i + 1:])


def per_doubling(costs):
    """Of {size: cost}: what doubling the size multiplies the cost by. 1: it does not depend on it, 2: it is proportional."""
    return 2 ** slope([(math.log2(size), math.log2(cost)) for size, cost in costs.items()])


def each_unit(costs):
    """Of {size: cost}: what one more adds, from the larger half of the sizes: there it outweighs what is paid once."""
    sizes = sorted(costs)
    return slope([(size, costs[size]) for size in sizes[len(sizes) // 2 - 1:]])


def last_power(costs):
    """Of {size: cost}: the power of the size by which the cost grows between the largest and one of at most a quarter of it. Above
    1 a total grows faster than what it is the cost of."""
    sizes = sorted(costs)
    large, small = sizes[-1], max(s for s in sizes if s * 4 <= sizes[-1])
    return math.log(costs[large] / costs[small]) / math.log(large / small)


class Growth:
    """Rounds of one series: {size: [a cost for each round]}."""

    def __init__(self, rounds):
        self.rounds = rounds

    def medians(self):
        return {size: statistics.median(costs) for size, costs in sorted(self.rounds.items())}

    def ratios(self):
        """To the smallest size, in the same round: the machine's other load is in both."""
        first = self.rounds[min(self.rounds)]
        return {size: statistics.median(b / a for a, b in zip(first, costs)) for size, costs in sorted(self.rounds.items())}
