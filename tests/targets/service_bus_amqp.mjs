// SPDX-License-Identifier: MIT
//
// Jobs that put messages on Service Bus over AMQP: a broker on rhea that checks the tokens,
// read back with Microsoft's own client (npm @azure/service-bus).
//
//     node service_bus_amqp.mjs PATH_OF_BELFRY

import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { Suite, binaryOf, equal, holds } from '../e2e/suite.mjs';
import { AmqpBroker } from './amqp_broker.mjs';
import { NO_RETRY, Stage, certificate, countBy, printRate } from './stage.mjs';

const { ServiceBusClient } = createRequire(import.meta.url)('@azure/service-bus');

const MESSAGES = 1000;
const KEY = 'bXkga2V5IGlzIHRleHQ=';
const suite = new Suite();
const binary = binaryOf(process.argv);
process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';  // for the client that reads back
process.removeAllListeners('warning');

function action(queueName, more = {}, key = KEY) {
  return { type: 'ServiceBusQueue', serviceBusQueueMessage: { namespace: 'localhost', queueName,
    transportType: 'AMQP', message: 'ding', ...more,
    authentication: { type: 'sharedAccessKey', sasKeyName: 'sender', sasKey: key } } };
}

function topic(topicPath, message) {
  const { queueName, ...rest } = action('', { message }).serviceBusQueueMessage;
  return { type: 'ServiceBusTopic', serviceBusTopicMessage: { topicPath, ...rest } };
}

async function readBack(broker, queue, count) {
  const client = new ServiceBusClient(
    `Endpoint=sb://localhost/;SharedAccessKeyName=sender;SharedAccessKey=${KEY}`,
    { customEndpointAddress: `sb://127.0.0.1:${broker.port}` });
  try {
    const receiver = client.createReceiver(queue, { receiveMode: 'receiveAndDelete' });
    const messages = await receiver.receiveMessages(count, { maxWaitTimeInMs: 20_000 });
    return messages;
  } finally {
    await client.close();
  }
}

const PROPERTIES = { contentType: 'text/plain', correlationId: 'corr', label: 'läbel',
  messageId: 'm-1', partitionKey: 's-1', replyTo: 'answers', replyToSessionId: 's-2',
  sessionId: 's-1', timeToLive: 'PT1H', to: 'somewhere', viaPartitionKey: 'via',
  scheduledEnqueueTimeUtc: '2029-06-01T12:30:00Z', forcePersistence: true };
const CUSTOM = { text: 'Grüße 🔔', 'with blank': 'x', flag: true, number: -7, real: 2.5 };

async function everyProperty(stage, broker) {
  broker.queue('dir/all');
  const [row] = await stage.run('all', action('dir/all', { message: 'Grüße 🔔',
    brokeredMessageProperties: PROPERTIES, customMessageProperties: CUSTOM }));
  const raw = broker.queues.get('dir/all')[0];
  const [message] = await readBack(broker, 'dir/all', 1);
  await suite.case('the history of a success has the live service\'s pattern', () => {
    equal([row.status, row.message],
      [undefined, "ServiceBusQueue Action - Response from host 'localhost': 'Accepted'"]);
  });
  await suite.case('Microsoft\'s own client reads every property back', () => {
    equal(message.body.toString(), 'Grüße 🔔');
    equal(message.applicationProperties, CUSTOM);
    const { contentType, correlationId, messageId, partitionKey, replyTo, replyToSessionId,
      sessionId, to, subject, timeToLive } = message;
    equal({ contentType, correlationId, messageId, partitionKey, replyTo, replyToSessionId,
      sessionId, to, label: subject, timeToLive },
      { ...Object.fromEntries(Object.entries(PROPERTIES).filter(([name]) =>
        !['viaPartitionKey', 'scheduledEnqueueTimeUtc', 'forcePersistence'].includes(name))),
      timeToLive: 3_600_000 });
  });
  await suite.case('what that client does not show was on the wire', () => {
    const annotations = raw.message_annotations;
    equal(annotations['x-opt-via-partition-key'], 'via');
    equal(new Date(annotations['x-opt-scheduled-enqueue-time']).toISOString(),
      '2029-06-01T12:30:00.000Z');
    equal(raw.durable, true);
  });
  await suite.case('custom properties keep their types', async () => {
    broker.queue('types');
    await stage.run('types', action('types', { customMessageProperties: { whole: 2, real: 2.0 } }));
    const [{ application_properties: properties }] = broker.queues.get('types');
    equal(properties, { whole: 2, real: 2 });
  });
}

async function keys(stage, broker) {
  broker.queue('keys');
  const retry = { retryType: 'Fixed', retryInterval: 'PT1M', retryCount: 1 };
  let refusals = 1;
  broker.queue('once', (delivery) => {
    if (refusals-- > 0) return delivery.release();
    delivery.accept();
    return undefined;
  });
  await suite.case('without a messageId the key of the occurrence is it', async () => {
    await stage.run('keys', { ...action('missing'),
      errorAction: { ...action('keys'), retryPolicy: NO_RETRY } });
    await stage.run('other', action('keys'));
    const ids = broker.queues.get('keys').map((message) => message.message_id);
    equal(new Set(ids).size, 2);
    holds(ids.every((id) => /^[0-9a-f]{32}$/.test(id)), ids);
  });
  await suite.case('as an error action, and on a topic', async () => {
    broker.queue('t1');
    const rows = await stage.run('failing', { ...action('missing'),
      errorAction: { ...topic('t1', 'it failed'), retryPolicy: NO_RETRY } });
    equal(rows.map((row) => [row.actionName, row.status, row.message.split(' ')[0]]),
      [['MainAction', 'failed', 'ServiceBusQueue'], ['ErrorAction', undefined,
        'ServiceBusTopic']]);
    const [message] = await readBack(broker, 't1', 1);
    equal(message.body.toString(), 'it failed');
  });
  await suite.case('what the broker releases is tried again', async () => {
    await stage.put('once', { ...action('once'), retryPolicy: retry });
    await stage.move('PT5M');
    equal((await stage.history('once')).map((row) => row.status), ['failed', undefined]);
  });
}

async function failures(stage, broker) {
  broker.queue('rejecting', (delivery) => delivery.reject({ condition: 'amqp:precondition-failed',
    description: 'not today' }));
  broker.queue('releasing', (delivery) => delivery.release());
  broker.queue('modifying', (delivery) => delivery.modified({ delivery_failed: true }));
  broker.queue('guarded');
  const says = "ServiceBusQueue Action - Response from host 'localhost': ";
  const cases = [
    ['a wrong key', action('guarded', {}, 'wrong'), `${says}'Unauthorized' 401 InvalidSignature`],
    ['a missing queue', action('nowhere'), `${says}'Detached' amqp:not-found The messaging `
      + "entity 'nowhere' could not be found."],
    ['a rejection', action('rejecting'), `${says}'Rejected' amqp:precondition-failed not today`],
    ['a release', action('releasing'), `${says}'Released'`],
    ['a modification', action('modifying'), `${says}'Modified'`],
  ];
  for (const [index, [name, what, expected]] of cases.entries()) {
    await suite.case(`${name} is a failure with its reason`, async () => {
      const message = await stage.failure(`fails${index}`, what);
      holds(message.startsWith(expected), message);
    });
  }
  await suite.case('none of it disturbed the others', async () => {
    equal((await stage.run('after', action('guarded'))).map((row) => row.status), [undefined]);
    equal(broker.queues.get('guarded').length, 1);
  });
}

// The port is the template's, the namespace the host: what hangs is at another address of this
// machine, and hangs until it is ended.
async function slowBroker(stage, broker) {
  const sockets = [];
  const hung = net.createServer((socket) => sockets.push(socket));
  hung.listen(broker.port, '127.0.0.2');
  await once(hung, 'listening');
  broker.queue('quick');
  await suite.case('a broker that hangs delays no other', async () => {
    const slow = action('quick');
    slow.serviceBusQueueMessage.namespace = '127.0.0.2';
    await stage.put('slow', slow);
    await stage.put('quick', action('quick'));
    let over = false;
    const moved = stage.move('PT1S').then(() => { over = true; });
    await broker.received('quick', 1);
    equal(over, false);
    while (sockets.length === 0) await once(hung, 'connection');
    sockets[0].destroy();
    await moved;
    const [row] = await stage.history('slow');
    holds(row.message.startsWith("ServiceBusQueue Action - Request to host '127.0.0.2' failed: "
      + 'SecureChannelFailure '), row.message);
  });
  hung.close();
}

// Each half of the jobs has its minute: one before the broker goes, one while it is away.
async function goneAndBack(stage, broker) {
  broker.queue('patient');
  const retryPolicy = { retryType: 'Fixed', retryInterval: 'PT15M', retryCount: 20 };
  await suite.case('a broker that goes and comes back loses nothing', async () => {
    for (let i = 0; i < 20; ++i) {
      await stage.put(`patient${i}`, { ...action('patient', { message: `${i}` }), retryPolicy },
        { recurrence: { frequency: 'Hour', count: 2 } });
    }
    await stage.move('PT1M');
    await broker.stop();
    await stage.move('PT90M');
    await broker.start();
    await stage.move('PT1H');
    const texts = broker.queues.get('patient').map((message) => message.body.content.toString());
    equal(countBy(texts, (text) => text).size, 20);
    equal(texts.length, 40);
    const rows = await stage.history('patient0');
    holds(rows.filter((row) => row.status === 'failed').length > 1, rows);
    // One may have been on its way before the end of the old connection was noticed.
    const connectionLost = 'ReceiveFailure The underlying connection was closed';
    const nobodyThere = 'ConnectFailure Unable to connect to the remote server';
    for (const { message } of rows.filter((row) => row.status === 'failed')) {
      holds([connectionLost, nobodyThere].some((why) => message.startsWith(
        `ServiceBusQueue Action - Request to host 'localhost' failed: ${why}`)), message);
    }
    equal((await stage.job('patient0')).status.faultedCount, 0);
  });
}

async function thousand(stage, broker) {
  const kept = broker.queue('thousand');
  await suite.case(`${MESSAGES} messages arrive exactly once`, async () => {
    const connected = broker.connected;
    printRate('service bus, amqp with tls and cbs', await stage.many('t', MESSAGES, 100,
      (i) => action('thousand', { message: `from ${i}` })));
    equal(kept.length, MESSAGES);
    equal(countBy(kept, (message) => message.message_id).size, MESSAGES);
    equal(broker.connected - connected, 0, 'the connection of the cases before is used');
  });
}

async function timeouts(endpoint, trust, broker) {
  broker.queue('silent', () => {});
  broker.queue('starving', 'starve');
  const stage = await new Stage(binary, ...endpoint, ...trust, '--timeout', 'PT2S').start();
  await stage.put('silent', action('silent'));
  await stage.put('starving', action('starving'));
  await stage.move('PT1S');
  const reasons = { silent: 'the broker did not say whether it has it',
    starving: 'the broker did not ask for it' };
  for (const [name, reason] of Object.entries(reasons)) {
    await suite.case(`${name}: the attempt ends with its time`, async () => {
      equal((await stage.history(name)).map((row) => row.message), ['ServiceBusQueue Action - '
        + "Request to host 'localhost' failed: Timeout The operation has timed out "
        + `(${reason})`]);
    });
  }
  await stage.end();
}

async function tokensAreRenewed(endpoint, trust, broker) {
  broker.queue('renewed');
  const stage = await new Stage(binary, ...endpoint, ...trust, '--service-bus-token-lifetime',
    'PT2S').start();
  await suite.case('a token is renewed before it expires, and the link goes on', async () => {
    const audience = 'sb://localhost/renewed';
    const renewals = () => broker.tokens.filter((token) => token.audience === audience);
    await stage.run('first', action('renewed'));
    while (renewals().length < 3) await once(broker, 'token');
    equal((await stage.run('second', action('renewed'))).map((row) => row.status), [undefined]);
    holds(renewals().every((token) => token.good));
    equal(broker.queues.get('renewed').length, 2);
  });
  await stage.end();
}

async function configuredKeys(endpoint, trust, broker, folder) {
  broker.queue('configured');
  const file = path.join(folder, 'keys.toml');
  writeFileSync(file, `[localhost]\nsender = "${KEY}"\n`, { mode: 0o600 });
  const stage = await new Stage(binary, ...endpoint, ...trust, '--service-bus-keys', file).start();
  const keyless = (sasKeyName) => {
    const what = action('configured');
    what.serviceBusQueueMessage.authentication = { type: 'sharedAccessKey', sasKeyName };
    return what;
  };
  await suite.case('a job without a key is sent with the configuration\'s', async () => {
    equal((await stage.run('has', keyless('sender'))).map((row) => row.status), [undefined]);
    equal(broker.queues.get('configured').length, 1);
  });
  await suite.case('without any key the history says what is missing', async () => {
    equal(await stage.failure('none', keyless('other')), 'ServiceBusQueue Action - There is no '
      + 'key to send with: the job has no sasKey, and the file '
      + 'that the setting service-bus-keys names has none for '
      + "'other' of namespace 'localhost'.");
  });
  await stage.end();
}

async function untrusted(endpoint, broker) {
  const stage = await new Stage(binary, ...endpoint).start();
  broker.queue('untrusted');
  await suite.case('a certificate that nobody vouches for is not trusted', async () => {
    const tokens = broker.tokens.length;
    const message = await stage.failure('tls', action('untrusted'));
    holds(message.startsWith("ServiceBusQueue Action - Request to host 'localhost' failed: "
      + 'TrustFailure '), message);
    equal(broker.tokens.length, tokens, 'tokens that a stranger was shown');
  });
  await stage.end();
}

const folder = mkdtempSync(path.join(tmpdir(), 'belfry-amqp-'));
const tls = certificate(folder);
const broker = new AmqpBroker(tls);
broker.keys.set('sender', KEY);
await broker.start();
const endpoint = ['--service-bus-amqp-endpoint', `amqps://{namespace}:${broker.port}`];
const trust = ['--ca-file', tls.cert];
try {
  const stage = await new Stage(binary, ...endpoint, ...trust).start();
  await everyProperty(stage, broker);
  await keys(stage, broker);
  await failures(stage, broker);
  await slowBroker(stage, broker);
  await thousand(stage, broker);
  await goneAndBack(stage, broker);
  await suite.case('no token and no key is in the log', () => {
    holds(!stage.server.log().includes('sig='), stage.server.log());
    holds(!stage.server.log().includes(KEY), stage.server.log());
  });
  await stage.end();
  await timeouts(endpoint, trust, broker);
  await tokensAreRenewed(endpoint, trust, broker);
  await configuredKeys(endpoint, trust, broker, folder);
  await untrusted(endpoint, broker);
} finally {
  await broker.stop();
  rmSync(folder, { recursive: true, force: true });
}
suite.finish();
process.exit();  // the client that reads back leaves timers behind
