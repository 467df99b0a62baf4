// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.resilience;

/**
 * Classifies the failures of calls. It must be thread-safe, and must not throw. A {@link
 * GuardException} of an inner guard is not passed to the classifier, because it has a verdict of
 * its own.
 */
@FunctionalInterface
public interface Classifier {

    /**
     * Classifies a failure.
     *
     * @param failure the exception of the call
     * @return the classification
     */
    Verdict classify(Exception failure);

    /**
     * Returns a classifier for which exceptions of some types are transient, and all others are
     * permanent. Use it only for exceptions after which the call has certainly had no effect, or for
     * calls that are idempotent.
     *
     * @param types the types, with their subtypes
     * @return the classifier
     */
    @SafeVarargs
    @SuppressWarnings("varargs")
    static Classifier ofTransient(Class<? extends Exception>... types) {
        Class<? extends Exception>[] copy = types.clone();
        return failure -> {
            for (Class<? extends Exception> type : copy) {
                if (type.isInstance(failure)) {
                    return Verdict.TRANSIENT;
                }
            }
            return Verdict.PERMANENT;
        };
    }
}
