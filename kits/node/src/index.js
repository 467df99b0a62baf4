// SPDX-License-Identifier: Apache-2.0
// The subject protocol (docs/protocol.md) for Node.js. A program passes its cases to `serve`, which
// communicates with benchlab until the end.

export { UnsupportedError, UsageError } from './errors.js';
export { Latencies } from './latencies.js';
export { Opening } from './opening.js';
export { serve } from './subject.js';
export { Sum } from './sum.js';
