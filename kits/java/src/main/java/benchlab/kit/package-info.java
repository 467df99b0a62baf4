// SPDX-License-Identifier: Apache-2.0
/**
 * The subject protocol in Java: implement {@link benchlab.kit.Subject} and {@link
 * benchlab.kit.Case}, and hand the subject to {@link benchlab.kit.Lab}.
 */
package benchlab.kit;
