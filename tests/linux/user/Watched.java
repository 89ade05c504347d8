// SPDX-License-Identifier: GPL-2.0-or-later
import java.io.IOException;

/**
 * At each line of its input: "gc N" collects garbage so often, "garbage N" makes so many MiB of it, "load" loads some classes,
 * "threads N" starts so many threads, one after another, and "calls N" calls known methods. It says what it has done, then "done". Texts are not put together by
 * the compiler, which would make classes of its own for that.
 */
public class Watched {
	static class Plain {
	}

	static class Heir extends Plain implements Named {
	}

	interface Named {
	}

	enum Kind {
		ONE, TWO
	}

	private long middles;
	private static long leaves, failures;
	private static volatile byte[] garbage;

	static long leaf(long n) {
		leaves++;
		return n + 1;
	}

	static void fail(long n) {
		failures++;
		throw new IllegalStateException();
	}

	long middle(long n) {
		middles++;
		return leaf(n) + leaf(n + 1);
	}

	static void say(Object... words) {
		StringBuilder line = new StringBuilder();

		for (Object word : words)
			line.append(word).append(' ');
		System.out.println(line.toString().trim());
	}

	static void calls(int times) {
		Watched watched = new Watched();

		leaves = failures = 0;
		for (int i = 0; i < times; i++) {
			watched.middle(i);
			if (i % 4 == 0) {
				try {
					fail(i);
				} catch (IllegalStateException e) {
					continue;
				}
			}
		}
		say("calls leaf", leaves);
		say("calls middle", watched.middles);
		say("calls fail", failures);
	}

	static void threads(int times) throws InterruptedException {
		for (int i = 0; i < times; i++) {
			Thread thread = new Thread(() -> { });

			thread.setName(i % 2 == 0 ? "even" : "a thread with a longer name");
			thread.setDaemon(i % 3 == 0);
			say("thread", thread.getId(), thread.isDaemon() ? 1 : 0, thread.getName());
			thread.start();
			thread.join();
		}
	}

	static void load() throws ClassNotFoundException {
		for (String name : new String[] { "Watched$Heir", "Watched$Kind", "java.util.zip.Inflater" })
			say("loaded", Class.forName(name).getName());
	}

	static String line() throws IOException {
		StringBuilder text = new StringBuilder();

		for (int c = System.in.read(); c != '\n'; c = System.in.read()) {
			if (c < 0)
				System.exit(0);
			text.append((char) c);
		}
		return text.toString();
	}

	public static void main(String[] args) throws Exception {
		say("ready");
		for (;;) {
			String[] words = line().split(" ");
			int times = words.length > 1 ? Integer.parseInt(words[1]) : 0;

			switch (words[0]) {
			case "gc":
				for (int i = 0; i < times; i++)
					System.gc();
				break;
			case "garbage":
				for (int i = 0; i < 16 * times; i++)
					garbage = new byte[1 << 16];
				break;
			case "load":
				load();
				break;
			case "threads":
				threads(times);
				break;
			case "calls":
				calls(times);
				break;
			}
			say("done");
		}
	}
}
