// SPDX-License-Identifier: Apache-2.0
// A pipe that is read at once, whether or not anybody wants its bytes yet.
package benchlab.appserver.process;

import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.Future;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A thread reads the source to its end and closes it, so that the program at its other end never
 * waits. What is not read from here yet stays in memory.
 */
final class DrainedStream extends InputStream {

    private static final int CHUNK = 1 << 16; // What a pipe of Linux holds.

    private final Future<Void> drain;

    private final int maxLength;

    // A virtual thread that waits for a monitor, or in one, keeps its carrier before Java 24.
    private final Lock lock = new ReentrantLock();
    private final Condition isChanged = lock.newCondition();

    // Guarded by the lock.
    private byte[] bytes = new byte[0];
    private int start;
    private int end;
    private boolean isEnded;
    private IOException failure;

    /**
     * Begins to read.
     *
     * @param maxLength how many bytes are kept at most that were not read
     */
    DrainedStream(InputStream source, int maxLength) {
        this.maxLength = maxLength;
        drain = Streams.start(() -> drain(source));
    }

    /** Done when the source has ended. */
    Future<Void> ended() {
        return drain;
    }

    private Void drain(InputStream source) {
        IOException failed = null;
        try (source) {
            // When the program ends, Java closes a pipe that is not locked, though others may still
            // write into it (ProcessPipeInputStream.processExited).
            synchronized (source) {
                byte[] chunk = new byte[CHUNK];
                int count;
                while ((count = source.read(chunk)) >= 0) {
                    append(chunk, count);
                }
            }
        } catch (IOException e) {
            failed = e;
        } catch (OutOfMemoryError e) {
            failed = new IOException("too much output", e);
        }
        lock.lock();
        try {
            failure = failed;
            isEnded = true;
            isChanged.signalAll();
        } finally {
            lock.unlock();
        }
        return null;
    }

    private void append(byte[] chunk, int count) throws OutputLimitException {
        lock.lock();
        try {
            int allowed = Math.min(count, maxLength - (end - start));
            if (bytes.length - end < allowed) {
                makeRoom(allowed);
            }
            System.arraycopy(chunk, 0, bytes, end, allowed);
            end += allowed;
            isChanged.signalAll();
            if (allowed < count) {
                throw new OutputLimitException(maxLength);
            }
        } finally {
            lock.unlock();
        }
    }

    private void makeRoom(int count) {
        int unread = end - start;
        int needed = unread + count; // At most maxLength.
        int room = (int) Math.min(maxLength, Math.max(needed, 2L * unread));
        byte[] larger = room <= bytes.length ? bytes : new byte[room];
        System.arraycopy(bytes, start, larger, 0, unread);
        bytes = larger;
        start = 0;
        end = unread;
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] into, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, into.length);
        if (length == 0) {
            return 0;
        }
        lock.lock();
        try {
            awaitBytes();
            if (start < end) {
                int count = Math.min(length, end - start);
                System.arraycopy(bytes, start, into, offset, count);
                start += count;
                return count;
            }
            checkFailure();
            return -1;
        } finally {
            lock.unlock();
        }
    }

    private void awaitBytes() throws InterruptedIOException {
        while (start == end && !isEnded) {
            try {
                isChanged.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new InterruptedIOException();
            }
        }
    }

    /** Throws the failure of the source, if it had one. */
    void checkFailure() throws IOException {
        lock.lock();
        try {
            if (failure != null) {
                throw failure;
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    public int available() {
        lock.lock();
        try {
            return end - start;
        } finally {
            lock.unlock();
        }
    }

    /** All that was not read yet, of a source that has ended. */
    byte[] unread() throws IOException {
        lock.lock();
        try {
            checkFailure();
            byte[] unread = Arrays.copyOfRange(bytes, start, end);
            start = end;
            return unread;
        } finally {
            lock.unlock();
        }
    }
}
