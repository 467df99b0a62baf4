// SPDX-License-Identifier: Apache-2.0
// What experiments/rest/README.md says of each path, asked of the built subject by Node's own client.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { after, before, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('../../../../build/rest/node/subject.js', import.meta.url));
const ORDER = readFileSync(new URL('../../order.json', import.meta.url));
const BODY_MAX = 65_536;

const skip = existsSync(PROGRAM) ? false : 'it is not built: experiments/rest/node/build.sh';

describe('the server', { skip }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'benchlab-'));
  const files = join(folder, 'files');
  const content = randomBytes(65_536);
  const agent = new Agent({ keepAlive: true });
  let subject;
  let replies;
  let url;

  const command = async (line) => {
    subject.stdin.write(`${line}\n`);
    return (await replies.next()).value;
  };

  const open = async () => {
    const opened = await command(`open case=serve workers=8 files=${files} seed=7`);
    [, url] = opened.match(/^@lab opened url=(http:\/\/127\.0\.0\.1:\d+) workers=0 loops=1$/);
  };

  /** Sends a request, whose body `send` ends, and returns the answer. */
  const ask = async (path, method = 'GET', send = (sent) => sent.end()) => {
    const sent = request(url + path, { method, agent });
    send(sent);
    const [answer] = await once(sent, 'response');
    const body = Buffer.concat(await answer.toArray());
    return { status: answer.statusCode, headers: answer.headers, body, text: body.toString() };
  };

  const post = (body) => ask('/api/echo', 'POST', (sent) => sent.end(body));

  before(async () => {
    mkdirSync(files);
    writeFileSync(join(files, '64k.bin'), content);
    writeFileSync(join(files, 'two words'), 'short');
    writeFileSync(join(folder, 'secret'), 'secret');
    subject = spawn(process.execPath, [PROGRAM], { stdio: ['pipe', 'pipe', 'inherit'] });
    replies = createInterface(subject.stdout)[Symbol.asyncIterator]();
    await replies.next();
    await open();
  });

  after(async () => {
    agent.destroy();
    subject.stdin.end();
    assert.deepEqual(await once(subject, 'exit'), [0, null]);
    rmSync(folder, { recursive: true });
  });

  for (const [path, expected] of [
    ['/api', '{"greeting":"Hello World!"}'],
    ['/api?more=1', '{"greeting":"Hello World!"}'],
    ['/api/built?number=0', '{"greeting":"Hello World!","number":0}'],
    ['/api/built?other=1&number=999999', '{"greeting":"Hello World!","number":999999}'],
    ['/api/hello/Ada', '{"greeting":"Hello Ada!"}'],
    ['/api/hello/%41da%20%22L%22%20O%27B.-', '{"greeting":"Hello Ada \\"L\\" O\'B.-!"}'],
    [`/api/hello/${'x'.repeat(32)}`, `{"greeting":"Hello ${'x'.repeat(32)}!"}`],
  ]) {
    test(`GET and HEAD ${path}`, async () => {
      const { status, headers, text } = await ask(path);
      assert.deepEqual([status, headers['content-type'], text], [200, 'application/json', expected]);
      const head = await ask(path, 'HEAD');
      assert.deepEqual([head.status, head.headers['content-length'], head.text],
        [200, String(Buffer.byteLength(expected)), '']);
    });
  }

  for (const [path, expected] of [
    ['/files/64k.bin', content], ['/files/two%20words', Buffer.from('short')],
  ]) {
    test(`GET and HEAD ${path}`, async () => {
      const { status, headers, body } = await ask(path);
      assert.deepEqual([status, headers['content-type']], [200, 'application/octet-stream']);
      assert(body.equals(expected));
      const head = await ask(path, 'HEAD');
      assert.deepEqual([head.status, head.headers['content-length'], head.text],
        [200, String(expected.length), '']);
    });
  }

  for (const [status, paths] of [
    [400, ['/api/built', '/api/built?number=', '/api/built?number=1000000', '/api/built?number=-1',
      '/api/built?number=1e3', '/api/hello/', '/api/hello/a%2Fb', '/api/hello/A%3CB', '/api/hello/%C3%A9',
      '/api/hello/%ff', '/api/hello/%', '/api/hello/a%0A', `/api/hello/${'x'.repeat(33)}`]],
    [404, ['/', '/nothing', '/api/', '/apix', '/api/hello', '/api/hello/a/b', '/files', '/files/',
      '/files/none', '/files/..', '/files/%2e%2e', '/files/../secret', '/files/..%2fsecret',
      '/files/%2e%2e%2fsecret', '/files/%00', '/files/64k.bin%00', '/files/64k.bin/', '//api']],
  ]) {
    for (const path of paths) {
      test(`${path} is answered with ${status}`, async () => {
        assert.equal((await ask(path)).status, status);
      });
    }
  }

  for (const [path, allow] of [
    ['/api', 'GET, HEAD'], ['/api/built?number=1', 'GET, HEAD'], ['/api/hello/Ada', 'GET, HEAD'],
    ['/api/echo', 'POST'], ['/files/64k.bin', 'GET, HEAD'],
  ]) {
    test(`another method on ${path}`, async () => {
      for (const method of ['DELETE', 'PUT', 'OPTIONS', allow === 'POST' ? 'HEAD' : 'POST']) {
        const { status, headers } = await ask(path, method);
        assert.deepEqual([status, headers.allow], [405, allow], method);
      }
    });
  }

  test('a document comes back as it was understood, whole or in chunks', async () => {
    const chunks = (sent) => {
      sent.write(ORDER.subarray(0, 100));
      sent.end(ORDER.subarray(100));
    };
    for (const { status, headers, text } of [
      await post(ORDER), await ask('/api/echo', 'POST', chunks),
    ]) {
      assert.deepEqual([status, headers['content-type']], [200, 'application/json']);
      assert.equal(text, JSON.stringify(JSON.parse(ORDER)));
    }
  });

  for (const [name, body] of [
    ['nothing', ''], ['a torn document', ORDER.subarray(0, 500)], ['a word', 'nonsense'],
    ['what is not UTF-8', Buffer.from([0x22, 0xff, 0x22])],
    ['what is nested too deep', '['.repeat(30_000) + ']'.repeat(30_000)],
  ]) {
    test(`${name} is no document`, async () => assert.equal((await post(body)).status, 400));
  }

  test('64 KiB are taken, and no more', async () => {
    const largest = JSON.stringify('x'.repeat(BODY_MAX - 2));
    assert.equal((await post(largest)).text, largest);
    assert.equal((await post(`${largest} `)).status, 413);
    assert.equal((await post(`"${'x'.repeat(10 * BODY_MAX)}"`)).status, 413);
  });

  test('close lets a request end that is under way, and closes idle connections', async () => {
    await ask('/api'); // leaves a connection open
    const underWay = ask('/api/echo', 'POST', (sent) => {
      sent.setHeader('Content-Length', 2);
      sent.write('[');
      setTimeout(() => sent.end(']'), 500);
    });
    await wait(250);
    const closed = command('close');
    const { status, text } = await underWay;
    assert.deepEqual([status, text], [200, '[]']);
    assert.equal(await closed, '@lab closed');
    agent.destroy(); // it might not know yet that its connections are closed
    await assert.rejects(ask('/api'), { code: 'ECONNREFUSED' });
    await open();
    assert.equal((await ask('/api')).status, 200);
  });
});
