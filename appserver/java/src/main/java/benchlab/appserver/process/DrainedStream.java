// SPDX-License-Identifier: Apache-2.0
// A pipe that is read at once, whether or not anybody wants its bytes yet.
package benchlab.appserver.process;

import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.Future;

/**
 * A thread reads the source to its end and closes it, so that the program at its other end never
 * waits. What is not read from here yet stays in memory.
 */
final class DrainedStream extends InputStream {

    private static final int CHUNK = 1 << 16; // What a pipe of Linux holds.

    private final Future<Void> drain;

    // Guarded by this.
    private byte[] bytes = new byte[0];
    private int start;
    private int end;
    private boolean isEnded;
    private IOException failure;

    DrainedStream(InputStream source) {
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
        } catch (ArithmeticException | OutOfMemoryError e) {
            failed = new IOException("too much output", e);
        }
        synchronized (this) {
            failure = failed;
            isEnded = true;
            notifyAll();
        }
        return null;
    }

    private synchronized void append(byte[] chunk, int count) {
        if (bytes.length - end < count) {
            int unread = end - start;
            int needed = Math.addExact(unread, count); // Throws beyond what an array holds.
            int room = (int) Math.min(Integer.MAX_VALUE - 8, Math.max(needed, 2L * unread));
            byte[] larger = room <= bytes.length ? bytes : new byte[room];
            System.arraycopy(bytes, start, larger, 0, unread);
            bytes = larger;
            start = 0;
            end = unread;
        }
        System.arraycopy(chunk, 0, bytes, end, count);
        end += count;
        notifyAll();
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public synchronized int read(byte[] into, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, into.length);
        if (length == 0) {
            return 0;
        }
        while (start == end && !isEnded) {
            try {
                wait();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new InterruptedIOException();
            }
        }
        if (start < end) {
            int count = Math.min(length, end - start);
            System.arraycopy(bytes, start, into, offset, count);
            start += count;
            return count;
        }
        if (failure != null) {
            throw failure;
        }
        return -1;
    }

    @Override
    public synchronized int available() {
        return end - start;
    }

    /** All that was not read yet, of a source that has ended. */
    synchronized byte[] unread() throws IOException {
        if (failure != null) {
            throw failure;
        }
        byte[] unread = Arrays.copyOfRange(bytes, start, end);
        start = end;
        return unread;
    }
}
