// SPDX-License-Identifier: Apache-2.0
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
import org.jspecify.annotations.Nullable;

/**
 * A stream that a background thread drains, so that the program at the other end never blocks. The
 * thread reads the source to its end and closes it. Bytes that have not been read from this stream
 * are stored in memory.
 */
final class DrainedStream extends InputStream {

    private static final int CHUNK = 1 << 16; // The capacity of a pipe on Linux.

    private final Future<Void> drain;

    private final int maxLength;

    // Not a monitor: before Java 24, a virtual thread that waits for a monitor, or in one, pins its
    // carrier thread.
    private final Lock lock = new ReentrantLock();
    private final Condition isChanged = lock.newCondition();

    // Guarded by the lock.
    private byte[] bytes = new byte[0];
    private int start;
    private int end;
    private boolean isEnded;
    private @Nullable IOException failure;

    /**
     * Starts to drain a source.
     *
     * @param source the stream to read
     * @param maxLength the maximum number of unread bytes to store
     */
    DrainedStream(InputStream source, int maxLength) {
        this.maxLength = maxLength;
        drain = Streams.start(() -> drain(source));
    }

    /** Returns a future that completes when the source has ended. */
    Future<Void> ended() {
        return drain;
    }

    private @Nullable Void drain(InputStream source) {
        IOException failed = null;
        try (source) {
            // When the program exits, Java closes a pipe that is not locked, although other
            // processes may still write to it (ProcessPipeInputStream.processExited).
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
            failed = new IOException("out of memory while storing the output", e);
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

    /** Throws the exception of the source, if there was one. */
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

    /** Returns the bytes that have not been read yet. The source must have ended. */
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
