// SPDX-License-Identifier: Apache-2.0
/**
 * The subject protocol for Java: implement {@link benchlab.kit.Subject} and {@link
 * benchlab.kit.Case}, and pass the subject to {@link benchlab.kit.Lab}.
 */
package benchlab.kit;
