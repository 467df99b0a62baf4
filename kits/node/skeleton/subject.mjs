// The subject in JavaScript. benchlab starts it and sends it commands.
import { Sum, serve } from '{{root}}/kits/node/src/index.js';

/** Opens the case `hash`: the FNV-1a hash of n bytes. */
function hash(opening) {
  // This prepares the case, and is not timed.
  const size = opening.integer('n', 1, 1 << 20);
  const inputs = Uint8Array.from(opening.inputs, (value) => Number(value & 0xffn));
  const data = Uint8Array.from({ length: size }, (_, i) => inputs[i % inputs.length]);

  return {
    // This does the operations, and is timed.
    perform(operations) {
      const check = new Sum();
      for (let k = 0; k < operations; k++) {
        data[0] = inputs[k % inputs.length];
        let sum = 2166136261;
        for (let i = 0; i < size; i++) sum = Math.imul(sum ^ data[i], 16777619);
        check.add(sum >>> 0);
      }
      // The sum of all values that the work produced, the same in all subjects, and the number of bytes.
      return { check: check.value, units: operations * size };
    },
  };
}

serve('{{subject}}', 'FNV-1a', { hash });
