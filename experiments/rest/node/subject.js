// SPDX-License-Identifier: Apache-2.0
// REST with Node.js's own http server and no framework: one process, whose event loop does it all.

import { once } from 'node:events';
import { createServer } from 'node:http';
import process from 'node:process';

import { serve } from 'benchlab-kit';

import { api } from './api.js';

// For so long a connection may be idle, or a request's headers be under way. It is by far more than
// the lab stops a server for; Node.js's own are 5 s and 60 s. A whole request may take as long.
const PATIENCE_MS = 300_000;

// Connections that wait to be accepted; Node.js's own is 511.
const BACKLOG = 1024;

// A request that is under way when the server closes has so long to end.
const GRACE_MS = 3_000;

const SWEEP_MS = 50;

/** @type {import('benchlab-kit').Case} */
async function open(opening) {
  const answer = api(opening.text('files'));
  const server = createServer({ keepAliveTimeout: PATIENCE_MS, headersTimeout: PATIENCE_MS });
  server.on('request', (request, response) => {
    if (!server.listening) response.setHeader('Connection', 'close'); // it is about to end
    answer(request, response);
  });
  server.listen({ host: '127.0.0.1', port: 0, backlog: BACKLOG });
  await once(server, 'listening');
  return {
    settings: { url: `http://127.0.0.1:${server.address().port}`, workers: 0, loops: 1 },
    close: () => close(server),
  };
}

/** Accepts no more, lets what is under way end, and closes the connections.
 * @param {import('node:http').Server} server */
async function close(server) {
  const closed = new Promise((resolve) => server.close(resolve));
  // Those that become idle are only closed if they are looked for.
  server.closeIdleConnections();
  const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS);
  const end = setTimeout(() => server.closeAllConnections(), GRACE_MS);
  await closed;
  clearInterval(sweep);
  clearTimeout(end);
}

serve('node', `http of Node.js ${process.versions.node}`, { serve: open });
