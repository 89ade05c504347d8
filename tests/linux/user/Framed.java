// SPDX-License-Identifier: GPL-2.0-or-later
import java.util.List;

/**
 * Threads that stay in known stacks, and one that computes. "Framed N": all of their methods have run N times before, as often
 * as it takes to have them compiled.
 */
public class Framed {
	interface Step {
		long go(long times, long ms) throws InterruptedException;
	}

	static long leaf(long times, long ms) throws InterruptedException {
		for (long i = 0; i < times; i++)
			Thread.sleep(ms);
		return times;
	}

	static class Nested implements Step {
		@Override
		public long go(long times, long ms) throws InterruptedException {
			return deeper(3, times, ms) + 1;
		}

		private long deeper(int n, long times, long ms) throws InterruptedException {
			if (n == 0)
				return leaf(times, ms);
			return deeper(n - 1, times, ms) + 1;
		}
	}

	static long byLambda(long times, long ms) throws InterruptedException {
		Step step = (t, m) -> {
			long before = t;

			return new Nested().go(before, m) + before;
		};
		return step.go(times, ms);
	}

	/* The library calls back. */
	static long byLibrary(long times, long ms) {
		long[] sum = {0};

		List.of("one").forEach(s -> {
			try {
				sum[0] += leaf(times, ms) + s.length();
			} catch (InterruptedException e) {
				throw new IllegalStateException(e);
			}
		});
		return sum[0];
	}

	static final Step[] STEPS = {new Nested(), Framed::byLambda, Framed::byLibrary, Framed::leaf};

	static void stay(Step step) {
		try {
			step.go(Long.MAX_VALUE, 100);
		} catch (InterruptedException e) {
			throw new IllegalStateException(e);
		}
	}

	static volatile long total;

	static long mix(long x) {
		return x * 31 + (x >>> 7);
	}

	static long busy(int n) {
		long x = n;

		for (int i = 0; i < n; i++)
			x = mix(x);
		return x;
	}

	static void compute(long rounds) {
		for (long i = 0; i < rounds; i++)
			total += busy(1000);
	}

	public static void main(String[] words) throws InterruptedException {
		for (int i = Integer.parseInt(words[0]); i > 0; i--) {
			for (Step step : STEPS)
				step.go(1, 0);
			compute(10);
		}
		for (int i = 0; i < STEPS.length; i++) {
			Step step = STEPS[i];

			new Thread(() -> stay(step), "framed-" + i).start();
		}
		new Thread(() -> compute(Long.MAX_VALUE), "computing").start();
		System.out.println("ready");
	}
}
