// SPDX-License-Identifier: MIT
//
// Jobs that put messages on RabbitMQ through its AMQP 1.0 plugin: SASL PLAIN over plain TCP,
// read back with npm rhea. The broker is restarted in the middle.
//
//     node rabbitmq.mjs PATH_OF_BELFRY

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { Suite, binaryOf, equal, holds } from '../e2e/suite.mjs';
import { Stage, countBy, freePort, printRate, printed } from './stage.mjs';

const rhea = createRequire(import.meta.url)('rhea');
const MESSAGES = 1000;
const PROGRAMS = '/usr/lib/rabbitmq/bin';
const suite = new Suite();
const binary = binaryOf(process.argv);

// A node of its own: files, ports and name.
class RabbitMq {
  constructor(folder) {
    this.folder = folder;
  }

  async start() {
    this.port ??= await freePort();
    this.epmdPort ??= await freePort();
    this.distPort ??= await freePort();
    const file = (name) => path.join(this.folder, name);
    writeFileSync(file('enabled_plugins'), '[rabbitmq_amqp1_0].');
    writeFileSync(file('rabbitmq.conf'), `listeners.tcp.default = 127.0.0.1:${this.port}\n`);
    this.env = { ...process.env, HOME: this.folder, ERL_EPMD_ADDRESS: '127.0.0.1',
      ERL_EPMD_PORT: String(this.epmdPort), RABBITMQ_DIST_PORT: String(this.distPort),
      RABBITMQ_NODENAME: `belfry${this.port}@localhost`, RABBITMQ_MNESIA_BASE: file('mnesia'),
      RABBITMQ_LOG_BASE: file('log'), RABBITMQ_CONFIG_FILE: file('rabbitmq.conf'),
      RABBITMQ_ENABLED_PLUGINS_FILE: file('enabled_plugins'),
      RUNNING_UNDER_SYSTEMD: '1' };  // no shell between us and the broker
    this.process = spawn(`${PROGRAMS}/rabbitmq-server`,
      { env: this.env, stdio: ['ignore', 'pipe', 'ignore'] });
    this.ended = once(this.process, 'exit');
    process.on('exit', () => this.process.kill('SIGKILL'));
    await printed(this.process, /completed with \d+ plugins/);
  }

  async stop() {
    this.process.kill('SIGTERM');
    await this.ended;
  }

  // The daemon that knows the names of Erlang's nodes outlives them.
  endEpmd() {
    execFileSync('epmd', ['-port', String(this.epmdPort), '-kill'], { stdio: 'ignore' });
  }
}

function action(queueName, more = {}, key = 'guest') {
  return { type: 'ServiceBusQueue', serviceBusQueueMessage: { namespace: 'ns', queueName,
    transportType: 'AMQP', message: 'ding', ...more,
    authentication: { type: 'sharedAccessKey', sasKeyName: 'guest', sasKey: key } } };
}

function connect(broker) {
  return rhea.create_container().connect({ port: broker.port, host: '127.0.0.1',
    username: 'guest', password: 'guest', reconnect: false });
}

// A queue that outlives the broker's restart: RabbitMQ makes it for a durable target.
async function declare(broker, queue) {
  const connection = connect(broker);
  connection.open_sender({ target: { address: `/queue/${queue}`, durable: 2 } });
  await once(connection, 'sendable');
  connection.close();
  await once(connection, 'connection_close');
}

// The messages of the queue, taken off it.
async function drain(broker, queue, count) {
  const connection = connect(broker);
  const messages = [];
  connection.on('message', (context) => messages.push(context.message));
  connection.open_receiver({ source: `/amq/queue/${queue}`, credit_window: count });
  while (messages.length < count) await once(connection, 'message');
  connection.close();
  await once(connection, 'connection_close');
  return messages;
}

const text = (message) => message.body.content.toString();

async function properties(stage, broker) {
  await suite.case('the message arrives with its properties', async () => {
    const rows = await stage.run('all', action('all', { message: 'Grüße 🔔',
      brokeredMessageProperties: { contentType: 'text/plain', correlationId: 'corr',
        messageId: 'm-1', replyTo: 'answers', timeToLive: 'PT1H' },
      customMessageProperties: { text: 'ä', flag: true, number: -7, real: 2.5 } }));
    equal(rows.map((row) => row.message),
      ["ServiceBusQueue Action - Response from host '127.0.0.1': 'Accepted'"]);
    const [message] = await drain(broker, 'all', 1);
    equal(text(message), 'Grüße 🔔');
    equal([message.content_type, message.correlation_id, message.message_id, message.durable,
      message.ttl], ['text/plain', 'corr', 'm-1', true, 3_600_000]);
    equal(message.application_properties, { text: 'ä', flag: true, number: -7, real: 2.5 });
  });
}

async function failures(stage) {
  await suite.case('a wrong password is a failure with its reason', async () => {
    const message = await stage.failure('wrong', action('all', {}, 'wrong'));
    holds(message.startsWith("ServiceBusQueue Action - Response from host '127.0.0.1': "
      + "'Unauthorized' amqp:unauthorized-access"), message);
    holds(!message.includes('wrong'), message);
  });
}

async function thousand(stage, broker) {
  await suite.case(`${MESSAGES} messages arrive exactly once`, async () => {
    printRate('rabbitmq, amqp with plain', await stage.many('t', MESSAGES, 100,
      (i) => action('thousand', { message: `from ${i}` })));
    const messages = await drain(broker, 'thousand', MESSAGES);
    equal(countBy(messages, (message) => message.message_id).size, MESSAGES);
  });
}

async function restarted(stage, broker) {
  const retryPolicy = { retryType: 'Fixed', retryInterval: 'PT15M', retryCount: 20 };
  await suite.case('what was accepted before a restart and what came meanwhile is there after it',
    async () => {
      for (let i = 0; i < 20; ++i) {
        await stage.put(`patient${i}`, { ...action('patient', { message: `${i}` }), retryPolicy },
          { recurrence: { frequency: 'Hour', count: 2 } });
      }
      await stage.move('PT1M');
      await broker.stop();
      await stage.move('PT90M');
      await broker.start();
      await stage.move('PT1H');
      const messages = await drain(broker, 'patient', 40);
      equal(countBy(messages, text).size, 20);
      equal(countBy(messages, (message) => message.message_id).size, 40);
      const rows = await stage.history('patient0');
      holds(rows.some((row) => row.status === 'failed'
        && row.message.includes('ConnectFailure')), rows);
      equal((await stage.job('patient0')).status.faultedCount, 0);
    });
}

// RabbitMQ 3.10 accepts messages for a queue that is missing, and drops them; an exchange must
// be there.
async function missing(broker) {
  const stage = await new Stage(binary, ...endpointOf(broker), '--service-bus-amqp-address',
    '/exchange/nowhere/{entity}').start();
  await suite.case('a missing exchange is a failure with its reason', async () => {
    const message = await stage.failure('missing', action('q'));
    holds(message.includes('amqp:not-found'), message);
    holds(message.includes("no exchange 'nowhere'"), message);
  });
  await stage.end();
}

const endpointOf = (broker) => ['--service-bus-amqp-endpoint', `amqp://127.0.0.1:${broker.port}`,
  '--service-bus-amqp-login', 'plain'];

// In memory where there is such a place: its many forced writes show nothing about us.
const place = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
const folder = mkdtempSync(path.join(place, 'belfry-rabbit-'));
const broker = new RabbitMq(folder);
try {
  await broker.start();
  const stage = await new Stage(binary, ...endpointOf(broker), '--service-bus-amqp-address',
    '/amq/queue/{entity}').start();
  for (const queue of ['all', 'thousand', 'patient']) await declare(broker, queue);
  await properties(stage, broker);
  await failures(stage);
  await missing(broker);
  await thousand(stage, broker);
  await restarted(stage, broker);
  await stage.end();
} finally {
  await broker.stop();
  broker.endEpmd();
  rmSync(folder, { recursive: true, force: true });
}
suite.finish();
