// SPDX-License-Identifier: MIT
//
// What the suites of this folder stand on: the real server with a clock that stands still,
// jobs that put messages somewhere, and what its history says of them.

import { execFileSync } from 'node:child_process';
import { webcrypto } from 'node:crypto';
import net from 'node:net';
import path from 'node:path';
import readline from 'node:readline';

import { Server } from '../e2e/server.mjs';
import { equal, holds } from '../e2e/suite.mjs';

globalThis.crypto ??= webcrypto;  // Debian's Node 18 lacks it, and Azure's clients want it

const VERSION = 'api-version=2016-03-01';
const COLLECTION = '/subscriptions/s/resourceGroups/g/providers/Microsoft.Scheduler'
  + '/jobCollections/jc';
process.on('SIGTERM', () => process.exit(1));  // whose handlers end what was started

export const NO_RETRY = { retryType: 'None' };

export class Stage {
  constructor(binary, ...flags) {
    this.server = new Server(binary, '--virtual-clock', '2030-01-01T00:00:00Z', ...flags);
  }

  async start() {
    process.on('exit', () => this.server.remove());  // also when a suite breaks off
    await this.server.start();
    await this.request('PUT', COLLECTION,
      { location: 'here', properties: { sku: { name: 'P20Premium' } } });
    return this;
  }

  async end() {
    try {
      await this.server.stop();
    } finally {
      this.server.remove();
    }
  }

  // The answer's JSON; an answer that is no success is an error.
  async request(method, target, body) {
    const url = `${this.server.url}${target}?${VERSION}`;
    const answer = await fetch(url, { method, body: body && JSON.stringify(body) });
    const text = await answer.text();
    holds(answer.ok, `${method} ${target}: ${answer.status} ${text}`);
    return text && JSON.parse(text);
  }

  put(name, action, properties = {}) {
    return this.request('PUT', `${COLLECTION}/jobs/${name}`,
      { properties: { action: { retryPolicy: NO_RETRY, ...action }, ...properties } });
  }

  patch(name, properties) {
    return this.request('PATCH', `${COLLECTION}/jobs/${name}`, { properties });
  }

  preflight(name) {
    return this.request('POST', `${COLLECTION}/jobs/${name}/preflight`);
  }

  // What a PUT that is refused is told.
  async refusal(name, action) {
    const answer = await fetch(`${this.server.url}${COLLECTION}/jobs/${name}?${VERSION}`,
      { method: 'PUT', body: JSON.stringify({ properties: { action } }) });
    return { status: answer.status, ...(await answer.json()) };
  }

  // Through everything that falls due on the way, until nothing is under way any more.
  move(advance) {
    return this.request('POST', '/clock', { advance });
  }

  async job(name) {
    return (await this.request('GET', `${COLLECTION}/jobs/${name}`)).properties;
  }

  // Oldest first.
  async history(name) {
    const rows = await this.request('GET', `${COLLECTION}/jobs/${name}/history`);
    return rows.value.map((row) => row.properties).reverse();
  }

  // A job that runs once, now; its rows.
  async run(name, action) {
    await this.put(name, action);
    await this.move('PT1S');
    return this.history(name);
  }

  // The one row of a job that runs once, and fails.
  async failure(name, action) {
    const rows = await this.run(name, action);
    equal(rows.map((row) => row.status), ['failed']);
    return rows[0].message;
  }

  // `jobs` jobs at a time, so often that there are `messages` of them in all; how many a second.
  async many(prefix, messages, jobs, action) {
    const recurrence = { frequency: 'Minute', count: messages / jobs };
    for (let i = 0; i < jobs; ++i) await this.put(`${prefix}${i}`, action(i), { recurrence });
    const began = performance.now();
    await this.move(`PT${messages / jobs}M`);
    const rate = Math.round(messages / (performance.now() - began) * 1000);
    for (let i = 0; i < jobs; ++i) {
      const { state, status } = await this.job(`${prefix}${i}`);
      equal([state, status.executionCount, status.failureCount], ['completed', messages / jobs, 0]);
    }
    return rate;
  }
}

// Resolves when the process has printed such a line. It is read to its end: a program whose
// output nobody takes would stop in the middle.
export function printed(child, pattern) {
  return new Promise((resolve, reject) => {
    readline.createInterface({ input: child.stdout })
      .on('line', (line) => pattern.test(line) && resolve(line));
    child.on('exit', (code) => reject(new Error(`${child.spawnfile} ended with ${code}`)));
  });
}

// One line that a machine can read, as benchmarks print it.
export function printRate(transport, rate) {
  console.log(JSON.stringify({ bench: 'messages', case: transport, per_second: rate }));
}

// A port that nobody listens on just now.
export async function freePort() {
  const listener = net.createServer();
  await new Promise((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const { port } = listener.address();
  await new Promise((resolve) => listener.close(resolve));
  return port;
}

// A self-signed certificate for this machine: { key, cert } are paths of PEM files.
export function certificate(folder, name = 'localhost') {
  const key = path.join(folder, `${name}.key`);
  const cert = path.join(folder, `${name}.pem`);
  execFileSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt',
    'ec_paramgen_curve:P-256', '-nodes', '-keyout', key, '-out', cert, '-days', '2',
    '-subj', `/CN=${name}`, '-addext', 'subjectAltName=IP:127.0.0.1,DNS:localhost'],
    { stdio: 'ignore' });
  return { key, cert };
}

export const countBy = (items, key) => items.reduce(
  (counts, item) => counts.set(key(item), (counts.get(key(item)) ?? 0) + 1), new Map());
