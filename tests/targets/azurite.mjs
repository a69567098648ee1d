// SPDX-License-Identifier: MIT
//
// Azurite, Microsoft's own emulator of storage queues, as a process on a free port; and its
// queues as Microsoft's own client reads them.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';

import { freePort, printed } from './stage.mjs';

const require = createRequire(import.meta.url);
const { QueueServiceClient, QueueSASPermissions, StorageSharedKeyCredential,
  generateQueueSASQueryParameters } = require('@azure/storage-queue');

export const ACCOUNT = 'devstoreaccount1';
const KEY = Buffer.from('a key of the tests, and of nothing else').toString('base64');
const PROGRAM = require.resolve('azurite/dist/src/queue/main.js');
const LISTENING = /successfully listens? on|successfully listening at/;

export class Azurite {
  credential = new StorageSharedKeyCredential(ACCOUNT, KEY);

  // With a certificate ({ key, cert }) over https.
  constructor(tls) {
    this.tls = tls;
  }

  async start() {
    const port = await freePort();
    const tls = this.tls ? ['--cert', this.tls.cert, '--key', this.tls.key] : [];
    this.process = spawn(process.execPath, [PROGRAM, '--queueHost', '127.0.0.1', '--queuePort',
      String(port), '--inMemoryPersistence', '--disableTelemetry', ...tls],
      { stdio: ['ignore', 'pipe', 'inherit'],
        env: { ...process.env, AZURITE_ACCOUNTS: `${ACCOUNT}:${KEY}` } });
    process.on('exit', () => this.process.kill('SIGKILL'));  // also when a suite breaks off
    this.ended = once(this.process, 'exit');
    this.endpoint = `${this.tls ? 'https' : 'http'}://127.0.0.1:${port}/{account}`;
    const url = this.endpoint.replace('{account}', ACCOUNT);
    this.client = new QueueServiceClient(url, this.credential, { retryOptions: { maxTries: 1 } });
    await printed(this.process, LISTENING);
    return this;
  }

  async stop() {
    this.process.kill('SIGTERM');
    await this.ended;
  }

  async queue(name) {
    const queue = this.client.getQueueClient(name);
    await queue.create();
    return queue;
  }

  // A token that may add messages to that queue.
  sas(queueName, { expiresOn = new Date('2099-01-01'), permissions = 'a' } = {}) {
    return generateQueueSASQueryParameters({ queueName, expiresOn,
      permissions: QueueSASPermissions.parse(permissions) }, this.credential).toString();
  }
}

// The texts of all messages, taken off the queue.
export async function drain(queue) {
  const texts = [];
  for (;;) {
    const { receivedMessageItems } = await queue.receiveMessages({ numberOfMessages: 32,
      visibilityTimeout: 3600 });
    if (receivedMessageItems.length === 0) return texts;
    texts.push(...receivedMessageItems.map((message) => message.messageText));
  }
}
