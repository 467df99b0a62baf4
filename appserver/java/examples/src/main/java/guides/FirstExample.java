// SPDX-License-Identifier: Apache-2.0
// The first program of the README: a counter that four threads share.
package guides;

import benchlab.appserver.counter.StripedCounter;

public final class FirstExample {

    public static void main(String[] arguments) throws InterruptedException {
        var served = new StripedCounter();
        var threads = new Thread[4];
        for (int i = 0; i < threads.length; i++) {
            threads[i] =
                    new Thread(
                            () -> {
                                for (int turn = 0; turn < 10_000; turn++) {
                                    served.increment();
                                }
                            });
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println(served.value()); // 40000
    }
}
