// SPDX-License-Identifier: MIT
//
// Jobs that put messages on Service Bus over its REST interface (transportType netMessaging).
// No emulator of it exists, so the service here is our own; what it knows of the protocol is
// what the documentation says, and it checks signatures with Node's own crypto. This suite
// shows that we send what is documented, not that the real service takes it.
//
//     node service_bus_rest.mjs PATH_OF_BELFRY

import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { Suite, binaryOf, equal, holds } from '../e2e/suite.mjs';
import { NO_RETRY, Stage, certificate, countBy, printRate } from './stage.mjs';

const MESSAGES = 1000;
const KEY = 'bXkga2V5IGlzIHRleHQ=';
const suite = new Suite();
const binary = binaryOf(process.argv);

class Service {
  entities = new Map();

  constructor(tls) {
    const handler = (request, response) => this.onRequest(request, response);
    this.scheme = tls ? 'https' : 'http';
    this.server = tls ? https.createServer({ key: readFileSync(tls.key),
      cert: readFileSync(tls.cert) }, handler) : http.createServer(handler);
  }

  async start() {
    this.server.listen(this.port ?? 0, '127.0.0.1');
    await once(this.server, 'listening');
    this.port = this.server.address().port;
    return this;
  }

  async stop() {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  endpoint() {
    return `${this.scheme}://{namespace}:${this.port}`;
  }

  entity(name) {
    this.entities.set(name, []);
    return this.entities.get(name);
  }

  async onRequest(request, response) {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const [, entity] = /^\/(.*)\/messages$/.exec(request.url) ?? [];
    const [status, reason] = this.verdict(request, entity);
    if (status === 201) this.entities.get(entity).push(messageOf(request, Buffer.concat(chunks)));
    response.writeHead(status, { 'Content-Type': 'application/xml; charset=utf-8' });
    response.end(reason && `<Error><Code>${status}</Code><Detail>${reason}</Detail></Error>`);
  }

  verdict(request, entity) {
    if (request.method !== 'POST' || entity === undefined) return [400, 'not a message'];
    const resource = `${this.scheme}://${request.headers.host}/${entity}`;
    if (!isSigned(request.headers.authorization, resource)) {
      return [401, 'InvalidSignature: The token has an invalid signature.'];
    }
    if (!this.entities.has(entity)) return [404, `No service is hosted at ${resource}`];
    return [201, ''];
  }
}

function isSigned(authorization, resource) {
  const [, token] = /^SharedAccessSignature (.*)$/.exec(authorization ?? '') ?? [];
  const raw = Object.fromEntries((token ?? '').split('&').map((field) => field.split('=', 2)));
  const signature = createHmac('sha256', KEY).update(`${raw.sr}\n${raw.se}`).digest('base64');
  return decodeURIComponent(raw.sr) === resource && decodeURIComponent(raw.skn) === 'my policy'
    && decodeURIComponent(raw.sig) === signature && Number(raw.se) > Date.now() / 1000;
}

// Every header that HTTP itself has no use for is a property; texts are in quotes.
function messageOf({ rawHeaders }, body) {
  const known = ['host', 'authorization', 'content-type', 'content-length', 'user-agent',
    'connection', 'accept', 'brokerproperties'];
  const headers = [];
  for (let i = 0; i < rawHeaders.length; i += 2) headers.push(rawHeaders.slice(i, i + 2));
  const custom = headers.filter(([name]) => !known.includes(name.toLowerCase()));
  const of = (wanted) => headers.find(([name]) => name.toLowerCase() === wanted)?.[1];
  return { body: body.toString(), contentType: of('content-type'),
    broker: JSON.parse(of('brokerproperties')),
    custom: Object.fromEntries(custom.map(([name, value]) => [name, JSON.parse(value)])) };
}

function action(queueName, more = {}, key = KEY) {
  return { type: 'ServiceBusQueue', serviceBusQueueMessage: { namespace: 'localhost', queueName,
    message: 'ding', ...more,
    authentication: { type: 'sharedAccessKey', sasKeyName: 'my policy', sasKey: key } } };
}

function topic(topicPath, message) {
  const { queueName, ...rest } = action('', { message }).serviceBusQueueMessage;
  return { type: 'ServiceBusTopic', serviceBusTopicMessage: { topicPath, ...rest } };
}

async function everyProperty(stage, service) {
  const kept = service.entity('dir/all');
  await suite.case('every property is in the request as the documentation says', async () => {
    const custom = { text: 'Grüße "🔔"\\', flag: true, number: -7, real: 2.5 };
    const [row] = await stage.run('all', action('dir/all', { message: 'Grüße 🔔',
      customMessageProperties: custom,
      brokeredMessageProperties: { contentType: 'text/plain', correlationId: 'corr',
        label: 'läbel 🔔', messageId: 'm-1', partitionKey: 's-1', replyTo: 'answers',
        replyToSessionId: 's-2', sessionId: 's-1', timeToLive: 'PT1H', to: 'somewhere',
        viaPartitionKey: 'via', scheduledEnqueueTimeUtc: '2029-06-01T12:30:00Z',
        forcePersistence: true } }));
    holds(row.message.startsWith("ServiceBusQueue Action - Response from host 'localhost': "
      + "'Created' Response Headers: "), row.message);
    equal(kept, [{ body: 'Grüße 🔔', contentType: 'text/plain', custom,
      broker: { MessageId: 'm-1', CorrelationId: 'corr', SessionId: 's-1', Label: 'läbel 🔔',
        To: 'somewhere', ReplyTo: 'answers', ReplyToSessionId: 's-2', PartitionKey: 's-1',
        ViaPartitionKey: 'via', TimeToLive: 3600, ForcePersistence: true,
        ScheduledEnqueueTimeUtc: 'Fri, 01 Jun 2029 12:30:00 GMT' } }]);
  });
}

async function failures(stage, service) {
  const kept = service.entity('guarded');
  const says = "ServiceBusQueue Action - Response from host 'localhost': ";
  await suite.case('a wrong key is a failure with the service\'s reason', async () => {
    const message = await stage.failure('wrong', action('guarded', {}, 'wrong'));
    holds(message.startsWith(`${says}'Unauthorized' `), message);
    holds(message.includes('InvalidSignature'), message);
    equal(kept, []);
  });
  await suite.case('a missing queue is a failure with the service\'s reason', async () => {
    const message = await stage.failure('missing', action('nowhere'));
    holds(message.startsWith(`${says}'NotFound' `), message);
    holds(message.includes('No service is hosted at'), message);
  });
}

async function errorAction(stage, service) {
  const kept = service.entity('t1');
  await suite.case('as an error action, on a topic, with a key of its own', async () => {
    const rows = await stage.run('failing', { ...action('nowhere'),
      errorAction: { ...topic('t1', 'it failed'), retryPolicy: NO_RETRY } });
    equal(rows.map((row) => [row.actionName, row.status, row.message.split(' ')[0]]),
      [['MainAction', 'failed', 'ServiceBusQueue'], ['ErrorAction', undefined,
        'ServiceBusTopic']]);
    await stage.run('main', topic('t1', 'main'));
    equal(kept.map((message) => message.body), ['it failed', 'main']);
    equal(new Set(kept.map((message) => message.broker.MessageId)).size, 2);
  });
}

async function goneAndBack(stage, service) {
  const kept = service.entity('patient');
  const retryPolicy = { retryType: 'Fixed', retryInterval: 'PT15M', retryCount: 20 };
  await suite.case('a service that goes and comes back loses nothing', async () => {
    for (let i = 0; i < 20; ++i) {
      await stage.put(`patient${i}`, { ...action('patient'), retryPolicy },
        { recurrence: { frequency: 'Hour', count: 2 } });
    }
    await stage.move('PT1M');
    await service.stop();
    await stage.move('PT90M');
    await service.start();
    await stage.move('PT1H');
    equal(kept.length, 40);
    equal(countBy(kept, (message) => message.broker.MessageId).size, 40);
    const failed = (await stage.history('patient0')).filter((row) => row.status === 'failed');
    holds(failed.length > 1 && failed.every((row) => row.message.startsWith('ServiceBusQueue '
      + "Action - Request to host 'localhost' failed: ConnectFailure ")), failed);
  });
}

async function thousand(stage, service) {
  const kept = service.entity('thousand');
  await suite.case(`${MESSAGES} messages arrive exactly once`, async () => {
    printRate('service bus, https', await stage.many('t', MESSAGES, 100,
      (i) => action('thousand', { message: `from ${i}` })));
    equal(kept.length, MESSAGES);
    equal(countBy(kept, (message) => message.broker.MessageId).size, MESSAGES);
  });
}

async function otherServers(endpoint, trust, service, folder) {
  const kept = service.entity('configured');
  const file = path.join(folder, 'keys.toml');
  writeFileSync(file, `[localhost]\n"my policy" = "${KEY}"\n`, { mode: 0o600 });
  const stage = await new Stage(binary, ...endpoint, ...trust, '--service-bus-keys', file).start();
  const keyless = action('configured');
  delete keyless.serviceBusQueueMessage.authentication.sasKey;
  await suite.case('a job without a key is sent with the configuration\'s', async () => {
    equal((await stage.run('has', keyless)).map((row) => row.status), [undefined]);
    equal(kept.length, 1);
  });
  await stage.end();
  const distrusting = await new Stage(binary, ...endpoint).start();
  await suite.case('a certificate that nobody vouches for is not trusted', async () => {
    const message = await distrusting.failure('tls', action('configured'));
    holds(message.startsWith("ServiceBusQueue Action - Request to host 'localhost' failed: "
      + 'TrustFailure '), message);
  });
  await suite.case('without any key the history says what is missing', async () => {
    equal(await distrusting.failure('none', keyless), 'ServiceBusQueue Action - There is no key '
      + 'to send with: the job has no sasKey, and the file '
      + 'that the setting service-bus-keys names has none for '
      + "'my policy' of namespace 'localhost'.");
  });
  await distrusting.end();
}

const folder = mkdtempSync(path.join(tmpdir(), 'belfry-rest-'));
const tls = certificate(folder);
const service = await new Service(tls).start();
const endpoint = ['--service-bus-endpoint', service.endpoint()];
const trust = ['--ca-file', tls.cert];
try {
  const stage = await new Stage(binary, ...endpoint, ...trust).start();
  await everyProperty(stage, service);
  await failures(stage, service);
  await errorAction(stage, service);
  await thousand(stage, service);
  await goneAndBack(stage, service);
  await suite.case('no token and no key is in the log', () => {
    holds(!stage.server.log().includes('sig='), stage.server.log());
    holds(!stage.server.log().includes(KEY), stage.server.log());
  });
  await stage.end();
  await otherServers(endpoint, trust, service, folder);
} finally {
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
}
suite.finish();
