import benchlab.kit.Arguments;
import benchlab.kit.Case;
import benchlab.kit.Lab;
import benchlab.kit.Refusal;
import benchlab.kit.Result;
import benchlab.kit.Sequence;
import benchlab.kit.Subject;

/** The subject in Java. benchlab starts it and sends it commands. */
public final class HashSubject implements Subject {
    public static void main(String[] arguments) throws Exception {
        Lab.serve(new HashSubject());
    }

    @Override public String name() { return "{{subject}}"; }

    @Override public String library() { return "FNV-1a"; }

    /** Prepares a case: this is not timed. */
    @Override public Case open(String name, Arguments arguments) throws Refusal {
        if (!name.equals("hash")) {
            throw Refusal.unsupported("no case " + name);
        }
        return new Hash(arguments.sequence(), (int) arguments.integer("n", 1, 1 << 20));
    }

    /** The FNV-1a hash of n bytes. */
    private static final class Hash implements Case {
        private final Sequence inputs;
        private final byte[] data;

        Hash(Sequence inputs, int size) {
            this.inputs = inputs;
            data = new byte[size];
            for (int i = 0; i < size; i++) {
                data[i] = (byte) inputs.at(i);
            }
        }

        /** Does the operations: this is timed. */
        @Override public Result perform(long operations) {
            long check = 0;
            for (long k = 0; k < operations; k++) {
                data[0] = (byte) inputs.at(k);
                int sum = 0x811c9dc5;
                for (byte b : data) {
                    sum = (sum ^ (b & 0xff)) * 16777619;
                }
                check += Integer.toUnsignedLong(sum);
            }
            // The number of bytes, and the sum of all values that the work produced: the same in all subjects.
            return new Result(operations * data.length, check);
        }

        @Override public void close() {}
    }
}
