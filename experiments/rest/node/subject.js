// SPDX-License-Identifier: Apache-2.0
// REST with Node.js's own HTTP server and no framework: one process, whose event loop does everything.

import { once } from 'node:events';
import { createServer } from 'node:http';
import process from 'node:process';

import { serve } from 'benchlab-kit';

import { api } from './api.js';

// The timeout for an idle connection and for a request's headers. It is much longer than the time for which
// benchlab stops a server; Node.js's defaults are 5 s and 60 s. A whole request may take as long.
const TIMEOUT_MS = 300_000;

// The maximum number of connections that wait to be accepted; Node.js's default is 511.
const BACKLOG = 1024;

// The time for requests in progress to finish when the server is closed. In tests, an environment variable sets it.
const GRACE_MS = Number(process.env.CLOSE_TIMEOUT_S ?? 4) * 1000;

const SWEEP_MS = 50;

/** @type {import('benchlab-kit').Case} */
async function open(opening) {
  const answer = api(opening.text('files'));
  const server = createServer({ keepAliveTimeout: TIMEOUT_MS, headersTimeout: TIMEOUT_MS });
  server.on('request', (request, response) => {
    if (!server.listening) response.setHeader('Connection', 'close'); // the server is closing
    answer(request, response);
  });
  server.listen({ host: '127.0.0.1', port: 0, backlog: BACKLOG });
  await once(server, 'listening');
  return {
    settings: { url: `http://127.0.0.1:${server.address().port}`, workers: 0, loops: 1 },
    close: () => close(server),
  };
}

/**
 * Stops accepting connections, finishes the requests in progress, and closes the connections.
 * @param {import('node:http').Server} server
 */
async function close(server) {
  const closed = new Promise((resolve) => server.close(resolve));
  // Connections that become idle later are only closed by another call.
  server.closeIdleConnections();
  const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS);
  const end = setTimeout(() => server.closeAllConnections(), GRACE_MS);
  await closed;
  clearInterval(sweep);
  clearTimeout(end);
}

serve('node', `http of Node.js ${process.versions.node}`, { serve: open });
