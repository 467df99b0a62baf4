// SPDX-License-Identifier: Apache-2.0
// The paths of the server, their methods, and a handler for each.

import { Buffer } from 'node:buffer';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { STATUS_CODES } from 'node:http';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';

/** @typedef {import('node:http').IncomingMessage} Request */
/** @typedef {import('node:http').ServerResponse} Response */

/**
 * A handler. `argument` is the last segment of the path, if that is variable, and `query` is the text after
 * the `?`; both are still encoded.
 * @typedef {(request: Request, response: Response, argument: string, query?: string) => unknown} Handler
 */

const BODY_MAX = 65_536;
const NUMBER = /^[0-9]{1,6}$/;
const NAME = /^[A-Za-z0-9 .'"-]{1,32}$/;

const GREETING = JSON.stringify({ greeting: 'Hello World!' });
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Thrown for an invalid request, to which the server responds with this status. */
class Refusal extends Error {
  /** @param {number} status @param {Record<string, string>} headers */
  constructor(status, headers = {}) {
    super(STATUS_CODES[status]);
    this.status = status;
    this.headers = headers;
  }
}

/**
 * Returns the function that serves requests, including the files of a directory.
 * @param {string} folder
 * @returns {(request: Request, response: Response) => Promise<void>}
 */
export function api(folder) {
  /** @type {[RegExp, Record<string, Handler>][]} */
  const routes = [
    [/^\/api$/, { GET: greet }],
    [/^\/api\/built$/, { GET: build }],
    [/^\/api\/hello\/([^/]*)$/, { GET: hello }],
    [/^\/api\/echo$/, { POST: echo }],
    [/^\/files\/([^/]*)$/, { GET: fileOf(folder) }],
  ];

  return async (request, response) => {
    try {
      await route(routes, request, response);
    } catch (error) {
      refuse(response, error);
    }
  };
}

/** Calls the handler for the path and the method. HEAD is GET without the body. */
function route(routes, request, response) {
  const [path, query] = request.url.split('?', 2);
  for (const [pattern, handlers] of routes) {
    const match = pattern.exec(path);
    if (match !== null) {
      const handler = handlers[request.method === 'HEAD' ? 'GET' : request.method];
      if (handler === undefined) throw new Refusal(405, { Allow: allowed(handlers) });
      return handler(request, response, match[1], query);
    }
  }
  throw new Refusal(404);
}

/** @param {Record<string, Handler>} handlers */
const allowed = (handlers) =>
  Object.keys(handlers).map((method) => (method === 'GET' ? 'GET, HEAD' : method)).join(', ');

// -- Handlers ----------------------------------------------------------------------------------

/** @type {Handler} */
function greet(request, response) {
  sendJson(response, GREETING);
}

/** @type {Handler} */
function build(request, response, argument, query) {
  const number = new URLSearchParams(query).get('number');
  if (number === null || !NUMBER.test(number)) throw new Refusal(400);
  sendJson(response, JSON.stringify({ greeting: 'Hello World!', number: Number(number) }));
}

/** @type {Handler} */
function hello(request, response, argument) {
  const name = orRefuse(400, () => decodeURIComponent(argument));
  if (!NAME.test(name)) throw new Refusal(400);
  sendJson(response, JSON.stringify({ greeting: `Hello ${name}!` }));
}

/** @type {Handler} */
async function echo(request, response) {
  const body = await bodyOf(request);
  sendJson(response, orRefuse(400, () => JSON.stringify(JSON.parse(utf8.decode(body)))));
}

/** @returns {Handler} */
const fileOf = (folder) => async (request, response, argument) => {
  const name = orRefuse(404, () => decodeURIComponent(argument));
  if (name !== basename(name)) throw new Refusal(404); // it would be in another directory
  const path = join(folder, name);
  const file = await stat(path).catch(() => null);
  if (!file?.isFile()) throw new Refusal(404);
  response.writeHead(200, { 'Content-Type': 'application/octet-stream', 'Content-Length': file.size });
  if (request.method === 'HEAD') response.end();
  else await stream(path, request, response);
};

/**
 * Sends a file. If a response waits for others on its connection, only its request is notified when the
 * client closes the connection.
 */
async function stream(path, request, response) {
  if (request.destroyed) return;
  const file = createReadStream(path);
  request.once('close', () => file.destroy());
  await pipeline(file, response);
}

// -- Bodies ------------------------------------------------------------------------------------

/**
 * Returns the whole body. A body that is too large is read to its end, too, so that the client receives the
 * response.
 * @param {Request} request @returns {Promise<Buffer>}
 */
function bodyOf(request) {
  return new Promise((resolve, reject) => {
    const chunks = [];
    let size = 0;
    request.on('data', (chunk) => {
      size += chunk.length;
      if (size <= BODY_MAX) chunks.push(chunk);
      else reject(new Refusal(413));
    });
    request.on('end', () => resolve(Buffer.concat(chunks)));
    request.on('error', reject);
  });
}

/** Returns the result of `compute`. If it throws, the request is invalid. */
function orRefuse(status, compute) {
  try {
    return compute();
  } catch {
    throw new Refusal(status);
  }
}

/** @param {Response} response @param {string} json */
function sendJson(response, json) {
  send(response, 200, { 'Content-Type': 'application/json' }, json);
}

/** @param {Response} response */
function refuse(response, error) {
  if (response.headersSent || response.destroyed) {
    response.destroy(); // the connection was closed, or the file could not be read
    return;
  }
  const { status, headers } = error instanceof Refusal ? error : new Refusal(500);
  if (status === 500) console.error(error);
  send(response, status, { 'Content-Type': 'text/plain', ...headers }, `${STATUS_CODES[status]}\n`);
}

/** @param {Response} response @param {Record<string, string>} headers @param {string} body */
function send(response, status, headers, body) {
  response.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(body) });
  response.end(body);
}
