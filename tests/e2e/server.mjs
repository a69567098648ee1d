// SPDX-License-Identifier: MIT
//
// The real server on a free port, with a store of its own in a temporary directory;
// server.py is its twin.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, openSync, closeSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import readline from 'node:readline';

const ADDRESS = /Serving on (http:\/\/127\.0\.0\.1:\d+)\b/;
const TOKEN = /\bbelfry_[0-9a-f]{16}_[0-9a-f]{64}\b/;
const SANITIZER = /ERROR: \w+Sanitizer|runtime error:|SUMMARY: \w+Sanitizer/;

export class Server {
  constructor(binary, ...flags) {
    this.binary = binary;
    this.flags = flags;
    this.home = mkdtempSync(path.join(tmpdir(), 'belfry-e2e-'));
    this.store = path.join(this.home, 'store');
    this.logPath = path.join(this.home, 'log');
    // The owner's, which the first start with --auth token prints, or one of an issuer's.
    this.token = process.env.ISSUED_TOKEN;
  }

  // Resolves when the server has printed its address: it then accepts connections.
  async start() {
    const env = Object.fromEntries(
      Object.entries(process.env).filter(([name]) => !name.startsWith('BELFRY_')));
    const log = openSync(this.logPath, 'a');
    this.process = spawn(
      this.binary, ['serve', '--listen', '127.0.0.1:0', '--store', this.store, ...this.flags],
      { env, stdio: ['ignore', 'pipe', log] });
    closeSync(log);
    this.ended = once(this.process, 'exit');
    for await (const line of readline.createInterface({ input: this.process.stdout })) {
      this.token = TOKEN.exec(line)?.[0] ?? this.token;
      const match = ADDRESS.exec(line);
      if (!match) continue;
      this.url = match[1];
      this.process.stdout.resume();
      return this;
    }
    throw new Error(`the server did not start:\n${this.log()}`);
  }

  // SIGTERM; the server must finish by itself, with exit code 0.
  async stop() {
    this.process.kill('SIGTERM');
    const [code] = await this.ended;
    if (code !== 0) throw new Error(`SIGTERM ended the server with ${code}:\n${this.log()}`);
    if (SANITIZER.test(this.log())) throw new Error(`a sanitizer complained:\n${this.log()}`);
  }

  log() {
    return readFileSync(this.logPath, 'utf8');
  }

  remove() {
    this.process?.kill('SIGKILL');
    rmSync(this.home, { recursive: true, force: true });
  }
}
