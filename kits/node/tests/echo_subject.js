// SPDX-License-Identifier: Apache-2.0
// A subject for tests. Its case echo replies with the input from the kit, and writes to standard
// output, which it should not do; its case wait does concurrent operations; its case measure
// reports metrics; and its case greet is a server.

import { once } from 'node:events';
import { createServer } from 'node:net';
import process from 'node:process';
import { setTimeout } from 'node:timers/promises';

import { Latencies, Sum, UnsupportedError, serve } from '../src/index.js';

/** @type {import('../src/subject.js').Case} */
function echo(opening) {
  const text = opening.text('text');
  if (text === 'unsupported') throw new UnsupportedError('this text is not supported');
  const failAt = opening.integer('fail_at', 0, 1000);

  return {
    settings: { text },
    perform(operations) {
      process.stdout.write('@lab torn');
      if (failAt > 0 && failAt <= operations) throw failure(failAt, text);
      const check = new Sum();
      for (let k = 0; k < operations; k++) check.addBig(opening.inputs[k % 4096]);
      return { check: check.value, units: 2 * operations };
    },
    close: () => console.log('echo was closed'),
  };
}

function failure(operation, code) {
  const error = new RangeError(`operation ${operation} failed`);
  return code === 'x' ? error : Object.assign(error, { code });
}

/** @type {import('../src/subject.js').Case} */
function wait(opening) {
  const connections = opening.integer('connections', 1, 1000);
  return {
    async perform(operations) {
      const latencies = new Latencies();
      await Promise.all(Array.from({ length: connections }, async (_, connection) => {
        const stopwatch = latencies.start();
        for (let k = connection; k < operations; k += connections) {
          await setTimeout(5);
          stopwatch.lap();
        }
      }));
      return { check: operations, units: operations, latencies };
    },
  };
}

/** @type {import('../src/subject.js').Case} */
function measure() {
  const metrics = { small: -1.2e-5, lost: 100 / 3, none: 0, large: 9.8765432109876544e16 };
  return { perform: (operations) => ({ check: operations, units: operations, metrics }) };
}

/** @type {import('../src/subject.js').Case} */
async function greet() {
  const server = createServer((socket) => socket.end('hello')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    settings: { port: server.address().port },
    close: () => new Promise((closed) => server.close(closed)),
  };
}

serve('echo', 'no library 1.0', { echo, wait, measure, greet });
