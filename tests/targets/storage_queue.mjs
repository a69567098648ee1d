// SPDX-License-Identifier: MIT
//
// Jobs that put messages on storage queues: Azurite over http and https, read back with
// Microsoft's own client.
//
//     node storage_queue.mjs PATH_OF_BELFRY

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { Suite, binaryOf, equal, holds } from '../e2e/suite.mjs';
import { ACCOUNT, Azurite, drain } from './azurite.mjs';
import { NO_RETRY, Stage, certificate, countBy, freePort, printRate } from './stage.mjs';

const MESSAGES = 1000;
const TEXT = 'Grüße & <b>"ding"</b>\r\n\t🔔';
const SEVEN_DAYS_MS = 7 * 24 * 60 * 60 * 1000;
const suite = new Suite();
const binary = binaryOf(process.argv);

const action = (queueName, sasToken, message = TEXT) => ({ type: 'StorageQueue',
  queueMessage: { storageAccount: ACCOUNT, queueName, sasToken, message } });
const decoded = (text) => Buffer.from(text, 'base64').toString();

// What an XML parser gives for an element without children.
function element(xml, name) {
  const text = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)[1];
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&#xD;', '\r')
    .replaceAll('&amp;', '&');
}

async function envelope(stage, azurite) {
  const queue = await azurite.queue('wrapped');
  const [row] = await stage.run('wrap', action('wrapped', `?${azurite.sas('wrapped')}`));
  const [text] = await drain(queue);
  const xml = decoded(text);
  await suite.case('the message arrives in the envelope of the old service, in base64', () => {
    holds(xml.startsWith('<?xml version="1.0" encoding="utf-16"?><StorageQueueMessage '), xml);
    equal(element(xml, 'Message'), TEXT);
    equal(element(xml, 'SchedulerJobId'), 'wrap');
    equal(element(xml, 'SchedulerJobCollectionId'), 'jc');
    equal(element(xml, 'Region'), 'here & there');
    equal(element(xml, 'ExpectedExecutionTime'), '2030-01-01T00:00:00');
    holds(/^[0-9a-f]{32}$/.test(element(xml, 'ExecutionTag')), xml);
    holds(/^[0-9a-f-]{36}$/.test(element(xml, 'ClientRequestId')), xml);
  });
  await suite.case('the history of a success has the live service\'s pattern', () => {
    equal(row.status, undefined);
    holds(row.message.startsWith("StorageQueue Action - Response from host '127.0.0.1': "
      + "'Created' Response Headers: "), row.message);
    holds(!row.message.includes('sig='), row.message);
  });
}

async function lifetime(stage, azurite) {
  const queue = await azurite.queue('lasting');
  await suite.case('a message lives as long as the service lets it by default', async () => {
    await stage.run('lasting', action('lasting', azurite.sas('lasting')));
    const { peekedMessageItems: [message] } = await queue.peekMessages();
    equal(message.expiresOn - message.insertedOn, SEVEN_DAYS_MS);
  });
}

async function failures(stage, azurite) {
  await azurite.queue('refused');
  const wrong = azurite.sas('refused').replace(/sig=../, 'sig=AA');
  const expired = azurite.sas('refused', { expiresOn: new Date('2020-01-01') });
  const reader = azurite.sas('refused', { permissions: 'r' });
  const cases = [
    ['a wrong signature', action('refused', wrong), "'Forbidden'", 'AuthenticationFailed'],
    ['an expired token', action('refused', expired), "'Forbidden'", 'AuthenticationFailed'],
    ['a token that may only read', action('refused', reader), "'Forbidden'",
      'AuthorizationPermissionMismatch'],
    ['a missing queue', action('nowhere', azurite.sas('nowhere')), "'NotFound'", 'QueueNotFound'],
  ];
  for (const [index, [name, what, status, code]] of cases.entries()) {
    await suite.case(`${name} fails with the service's own code`, async () => {
      const message = await stage.failure(`fails${index}`, what);
      holds(message.startsWith(
        `StorageQueue Action - Response from host '127.0.0.1': ${status} `), message);
      holds(message.includes(code), message);
      holds(!message.includes(/sig=([^&]*)/.exec(what.queueMessage.sasToken)[1]), message);
    });
  }
}

async function errorAction(stage, azurite) {
  const queue = await azurite.queue('errors');
  const sas = azurite.sas('errors');
  await suite.case('as an error action it carries a key of its own', async () => {
    const rows = await stage.run('main', { ...action('nowhere', azurite.sas('nowhere')),
      errorAction: { ...action('errors', sas, 'it failed'), retryPolicy: NO_RETRY } });
    equal(rows.map((row) => [row.actionName, row.status]),
      [['MainAction', 'failed'], ['ErrorAction', undefined]]);
    await stage.run('other', action('errors', sas, 'main'));
    const messages = (await drain(queue)).map(decoded);
    equal(messages.map((xml) => element(xml, 'Message')), ['it failed', 'main']);
    equal(new Set(messages.map((xml) => element(xml, 'ExecutionTag'))).size, 2);
  });
}

async function gone(stage, azurite) {
  const queue = await azurite.queue('patient');
  await suite.case('retries of an occurrence carry the same key and arrive once', async () => {
    const sas = azurite.sas('patient');
    await queue.delete();
    await stage.put('patient', { ...action('patient', sas),
      retryPolicy: { retryType: 'Fixed', retryInterval: 'PT1M', retryCount: 5 } });
    await stage.move('PT90S');
    await queue.create();
    await stage.move('PT5M');
    const rows = await stage.history('patient');
    equal(rows.map((row) => row.status), ['failed', 'failed', undefined]);
    equal((await drain(queue)).length, 1);
  });
}

async function thousand(stage, azurite, transport) {
  const queue = await azurite.queue('thousand');
  await suite.case(`${MESSAGES} messages arrive exactly once (${transport})`, async () => {
    printRate(transport, await stage.many('t', MESSAGES, 100,
      (i) => action('thousand', azurite.sas('thousand'), `from ${i}`)));
    const messages = (await drain(queue)).map(decoded);
    equal(messages.length, MESSAGES);
    equal(countBy(messages, (xml) => element(xml, 'ExecutionTag')).size, MESSAGES);
    const senders = countBy(messages, (xml) => element(xml, 'Message'));
    equal([senders.size, new Set(senders.values())], [100, new Set([MESSAGES / 100])]);
  });
}

async function bare(azurite) {
  for (const encoding of ['base64', 'text']) {
    const name = `bare-${encoding}`;
    const stage = await new Stage(binary, '--storage-queue-endpoint', azurite.endpoint,
      '--storage-queue-envelope', 'none', '--storage-queue-encoding', encoding).start();
    await suite.case(`the bare text as ${encoding}`, async () => {
      const queue = await azurite.queue(name);
      // The client that reads back does not understand "&#xD;".
      const sent = encoding === 'text' ? TEXT.replace('\r', '') : TEXT;
      await stage.run(name, action(name, azurite.sas(name), sent));
      const [text] = await drain(queue);
      equal(encoding === 'text' ? text : decoded(text), sent);
    });
    await stage.end();
  }
}

async function overHttp() {
  const azurite = await new Azurite().start();
  const stage = await new Stage(binary, '--storage-queue-endpoint', azurite.endpoint,
    '--region', 'here & there').start();
  await envelope(stage, azurite);
  await lifetime(stage, azurite);
  await failures(stage, azurite);
  await errorAction(stage, azurite);
  await gone(stage, azurite);
  await thousand(stage, azurite, 'storage queue, http');
  await suite.case('no token is in the log', () => {
    holds(!stage.server.log().includes('sig='), stage.server.log());
  });
  await stage.end();
  await bare(azurite);
  await azurite.stop();
}

async function overHttps(folder) {
  const tls = certificate(folder);
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';  // for the client that reads back
  process.removeAllListeners('warning');
  const azurite = await new Azurite(tls).start();
  const endpoint = ['--storage-queue-endpoint', azurite.endpoint];
  const trusting = await new Stage(binary, ...endpoint, '--ca-file', tls.cert).start();
  await thousand(trusting, azurite, 'storage queue, https');
  await trusting.end();
  const queue = azurite.client.getQueueClient('thousand');
  const stage = await new Stage(binary, ...endpoint).start();
  await suite.case('a certificate that nobody vouches for is not trusted', async () => {
    const message = await stage.failure('tls', action('thousand', azurite.sas('thousand')));
    holds(message.startsWith("StorageQueue Action - Request to host '127.0.0.1' failed: "
      + 'TrustFailure '), message);
    holds(message.includes('self-signed'), message);
    equal(await drain(queue), []);
  });
  await stage.end();
  await azurite.stop();
}

async function nobodyThere() {
  const endpoint = `http://127.0.0.1:${await freePort()}/{account}`;
  const stage = await new Stage(binary, '--storage-queue-endpoint', endpoint).start();
  await suite.case('a service that is not there is a failure of the connection', async () => {
    const message = await stage.failure('gone', action('q', 'sv=1&sig=x'));
    holds(message.startsWith("StorageQueue Action - Request to host '127.0.0.1' failed: "
      + 'ConnectFailure Unable to connect to the remote server'), message);
  });
  await stage.end();
}

const folder = mkdtempSync(path.join(tmpdir(), 'belfry-queue-'));
try {
  await overHttp();
  await overHttps(folder);
  await nobodyThere();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
suite.finish();
