// SPDX-License-Identifier: MIT
//
// Azure's own JavaScript client (npm azure-arm-scheduler) against the real server: every
// operation of the service, and everything a job can say, there and back.
//
//     node arm_javascript.mjs PATH_OF_BELFRY [--auth token]

import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

import { Server } from './server.mjs';
import { Suite, binaryOf, equal, holds } from './suite.mjs';

const require = createRequire(import.meta.url);
const SchedulerManagementClient = require('azure-arm-scheduler');
const { TokenCredentials } = require('ms-rest');
const moment = require('moment');

const GROUP = 'group';
const COLLECTION = 'jc';
const AHEAD = new Date('2099-01-01T00:00:00Z');
const HISTORY_ROWS = 620;
const PAGE = 1000;

const suite = new Suite();
const server = new Server(binaryOf(process.argv), ...process.argv.slice(3));

function connect(subscription = 'sub') {
  return new SchedulerManagementClient(
    new TokenCredentials(server.token ?? 'none'), subscription, server.url,
    { noRetryPolicy: true });
}

function collection(sku = 'Standard', properties = {}, more = {}) {
  return { location: 'West Europe', properties: { sku: { name: sku }, ...properties }, ...more };
}

function httpJob(properties = {}) {
  const request = { uri: 'http://127.0.0.1:1/hook', method: 'POST', body: 'text' };
  const action = { type: 'Http', request };
  return { properties: { startTime: AHEAD, action, ...properties } };
}

async function fails(statusCode, code, call) {
  try {
    await call();
  } catch (error) {
    equal([error.statusCode, error.code], [statusCode, code], error.message);
    holds(error.body.message, 'a message');
    return error.body.message;
  }
  throw new Error(`${code} was expected, and nothing was refused`);
}

// The client's answers are instances of its classes; what counts is what they hold.
const plain = (value) => JSON.parse(JSON.stringify(value));
const lower = (text) => text.toLowerCase();

class Tour {
  constructor(client) {
    this.collections = client.jobCollections;
    this.jobs = client.jobs;
  }

  put(name, job) {
    return this.jobs.createOrUpdate(GROUP, COLLECTION, name, job);
  }

  // What PUT answers and what GET answers are the same.
  async roundTrip(name, job) {
    const answered = await this.put(name, job);
    const read = await this.jobs.get(GROUP, COLLECTION, name);
    equal(plain(read), plain(answered));
    equal(read.name, `${COLLECTION}/${name}`);
    return read.properties;
  }

  async collectionOperations() {
    await suite.case('createOrUpdate makes a collection with its plan\'s quota', async () => {
      const made = await this.collections.createOrUpdate(
        GROUP, COLLECTION, collection('Standard', {}, { tags: { team: 'ops' } }));
      equal(plain(made), {
        id: `/subscriptions/sub/resourceGroups/${GROUP}/providers/Microsoft.Scheduler/` +
          `jobCollections/${COLLECTION}`,
        type: 'Microsoft.Scheduler/jobCollections',
        name: COLLECTION,
        location: 'West Europe',
        tags: { team: 'ops' },
        properties: {
          sku: { name: 'Standard' },
          state: 'Enabled',
          quota: { maxJobCount: 50, maxRecurrence: { frequency: 'minute', interval: 1 } },
        },
      });
    });
    await suite.case('createOrUpdate again replaces it', async () => {
      const quota = { maxJobCount: 30, maxRecurrence: { frequency: 'Minute', interval: 5 } };
      const made = await this.collections.createOrUpdate(
        GROUP, COLLECTION, collection('Standard', { quota }));
      equal(made.tags, undefined);
      equal(made.properties.quota.maxJobCount, 30);
    });
    await suite.case('patch changes the tags alone, and get shows it', async () => {
      const patched = await this.collections.patch(GROUP, COLLECTION, { tags: { a: 'b' } });
      equal([patched.tags, patched.properties.quota.maxJobCount], [{ a: 'b' }, 30]);
      equal(plain(await this.collections.get(GROUP, COLLECTION)), plain(patched));
    });
    await suite.case('disable and enable are done when they answer', async () => {
      for (const [verb, state] of [['disable', 'Disabled'], ['enable', 'Enabled']]) {
        const answer = await this.collections[`${verb}WithHttpOperationResponse`](
          GROUP, COLLECTION);
        equal(answer.response.statusCode, 200);
        equal((await this.collections.get(GROUP, COLLECTION)).properties.state, state);
      }
    });
    for (const sku of ['Free', 'P10Premium', 'P20Premium']) {
      await suite.case(`a collection of SKU ${sku}, made, listed and deleted`, async () => {
        const made = await this.collections.createOrUpdate('other', sku, collection(sku));
        equal(made.properties.sku.name, sku);
        const inGroup = await this.collections.listByResourceGroup('other');
        equal(inGroup.map((one) => one.name), [sku]);
        equal(inGroup.nextLink ?? null, null);
        const all = await this.collections.listBySubscription();
        equal(all.map((one) => one.name).sort(), [COLLECTION, sku].sort());
        await this.collections.deleteMethod('other', sku);
        equal((await this.collections.listByResourceGroup('other')).length, 0);
      });
    }
    await suite.case('deleteMethod of what is gone is no error', async () => {
      await this.collections.deleteMethod('other', 'Free');
    });
  }

  async sealedHeaders() {
    await suite.case('a header that is sealed comes back from GET to PUT as it was', async () => {
      const request = { uri: 'http://127.0.0.1:1/', method: 'GET',
        headers: { Accept: 'a', Authorization: 'Bearer b' } };
      await this.put('sealed', httpJob({ action: { type: 'Http', request } }));
      for (let i = 0; i < 2; i += 1) {
        const read = await this.jobs.get(GROUP, COLLECTION, 'sealed');
        equal(plain(read.properties.action.request.headers),
          { Accept: 'a', Authorization: '(sealed)' });
        await this.put('sealed', read);
      }
      await this.jobs.deleteMethod(GROUP, COLLECTION, 'sealed');
    });
  }

  async httpActions() {
    await suite.case('a job with everything: action, errorAction, retryPolicy', async () => {
      const action = {
        type: 'Https',
        request: {
          uri: 'https://127.0.0.1:1/hook?a=%2d',
          method: 'PUT',
          body: 'é€',
          headers: { 'ConTent-tYPe': 'text/plain' },
          authentication: { type: 'Basic', username: 'u', password: 'secret' },
        },
        retryPolicy: {
          retryType: 'Fixed',
          retryInterval: moment.duration({ days: 1, hours: 2, minutes: 3, seconds: 4 }),
          retryCount: 3,
        },
        errorAction: {
          type: 'Http',
          request: { uri: 'http://127.0.0.1:1/error', method: 'post' },
          retryPolicy: { retryType: 'None' },
        },
      };
      const made = await this.roundTrip('full', httpJob({ action, state: 'Disabled' }));
      equal(made.action.type, 'Https');
      equal(plain(made.action.request), {
        ...action.request, authentication: { type: 'Basic', username: 'u' } });
      const policy = made.action.retryPolicy;
      equal([lower(policy.retryType), policy.retryCount, policy.retryInterval.toISOString()],
        ['fixed', 3, 'P1DT2H3M4S']);
      equal(plain(made.action.errorAction), {
        type: 'Http', request: action.errorAction.request, retryPolicy: { retryType: 'none' } });
      equal([made.startTime, made.state, made.status], [AHEAD, 'disabled', undefined]);
    });
    await suite.case('OAuth comes back as OAuth, without the secret', async () => {
      const authentication = {
        type: 'ActiveDirectoryOAuth', tenant: 't', audience: 'a', clientId: 'c', secret: 's' };
      const request = { uri: 'http://127.0.0.1:1/', method: 'GET', authentication };
      const made = await this.roundTrip(
        'oauth', httpJob({ action: { type: 'Http', request } }));
      equal(plain(made.action.request.authentication),
        { type: 'ActiveDirectoryOAuth', tenant: 't', audience: 'a', clientId: 'c' });
    });
  }

  async messageActions() {
    await suite.case('a storage queue message, without its SAS token', async () => {
      const queueMessage = {
        storageAccount: 'account', queueName: 'q', sasToken: '?sv=x', message: 'hello' };
      const made = await this.roundTrip(
        'queue', httpJob({ action: { type: 'StorageQueue', queueMessage } }));
      equal(plain(made.action.queueMessage),
        { storageAccount: 'account', queueName: 'q', message: 'hello' });
    });
    const shared = {
      namespace: 'ns',
      message: 'hello',
      transportType: 'AMQP',
      authentication: { type: 'SharedAccessKey', sasKeyName: 'key', sasKey: 'secret' },
      brokeredMessageProperties: {
        contentType: 'text/plain', correlationId: 'c', forcePersistence: true, label: 'l',
        messageId: 'm', partitionKey: 'p', replyTo: 'r', replyToSessionId: 'rs',
        scheduledEnqueueTimeUtc: AHEAD, sessionId: 's', timeToLive: moment.duration(90, 'minutes'),
        to: 't', viaPartitionKey: 'v',
      },
      customMessageProperties: { tenant: 'contoso' },
    };
    const queue = {
      type: 'ServiceBusQueue', serviceBusQueueMessage: { ...shared, queueName: 'q' } };
    const topic = {
      type: 'ServiceBusTopic', serviceBusTopicMessage: { ...shared, topicPath: 't' } };
    for (const action of [queue, topic]) {
      await suite.case(`${action.type}: every property there and back, without the key`,
        async () => {
          const made = (await this.roundTrip(action.type, httpJob({ action }))).action;
          const message = made.serviceBusQueueMessage ?? made.serviceBusTopicMessage;
          equal(made.type, action.type);
          equal(plain({ ...message, transportType: lower(message.transportType) }), {
            ...plain(action.serviceBusQueueMessage ?? action.serviceBusTopicMessage),
            transportType: 'amqp',
            authentication: { type: 'sharedAccessKey', sasKeyName: 'key' },
          });
        });
    }
    await suite.case('another type of error action than of action', async () => {
      const action = { ...httpJob().properties.action, errorAction: topic };
      const made = await this.roundTrip('mixed', httpJob({ action }));
      equal([made.action.type, made.action.errorAction.type], ['Http', 'ServiceBusTopic']);
    });
  }

  async recurrences() {
    await suite.case('a weekly recurrence with count and endTime', async () => {
      const endTime = new Date('2099-12-31T23:59:59.000Z');
      const schedule = { weekDays: ['Monday', 'Friday'], hours: [5, 17], minutes: [0, 30] };
      const { recurrence } = await this.roundTrip('weekly', httpJob({
        recurrence: { frequency: 'Week', interval: 2, count: 5, endTime, schedule } }));
      equal(recurrence.endTime, endTime);
      equal(plain(recurrence), plain({
        frequency: 'week', interval: 2, count: 5, endTime,
        schedule: { ...schedule, weekDays: ['monday', 'friday'] },
      }));
    });
    await suite.case('monthDays, counted from both ends', async () => {
      const { recurrence } = await this.roundTrip('days', httpJob({
        recurrence: { frequency: 'Month', schedule: { monthDays: [1, -1] } } }));
      equal([recurrence.schedule.monthDays, recurrence.interval], [[1, -1], 1]);
    });
    await suite.case('monthlyOccurrences, with and without a number', async () => {
      const monthlyOccurrences = [
        { day: 'Friday', occurrence: -1 }, { day: 'Monday', occurrence: 1 }, { day: 'Sunday' }];
      const made = await this.roundTrip('occurrences', httpJob({
        recurrence: { frequency: 'Month', schedule: { monthlyOccurrences } } }));
      equal(plain(made.recurrence.schedule.monthlyOccurrences),
        monthlyOccurrences.map((one) => ({ ...one, day: lower(one.day) })));
      equal(made.status.nextExecutionTime, new Date('2099-01-04T00:00:00Z'));
      const { executionCount, failureCount, faultedCount, lastExecutionTime } = made.status;
      equal([executionCount, failureCount, faultedCount, lastExecutionTime],
        [0, 0, 0, undefined]);
    });
  }

  async patchRunDelete() {
    await suite.case('patch keeps what it does not name, the credentials too', async () => {
      const request = { uri: 'https://127.0.0.1:1/other', method: 'PUT' };
      const made = (await this.jobs.patch(GROUP, COLLECTION, 'full', {
        properties: { action: { type: 'Https', request }, recurrence: { frequency: 'Day' } },
      })).properties;
      equal([made.action.request.uri, made.action.request.authentication.username,
        made.action.retryPolicy.retryCount, made.state, made.recurrence.frequency],
      [request.uri, 'u', 3, 'disabled', 'day']);
    });
    await suite.case('patch of the state', async () => {
      for (const state of ['Enabled', 'Disabled']) {
        const made = await this.jobs.patch(GROUP, COLLECTION, 'full', { properties: { state } });
        equal(made.properties.state, lower(state));
      }
    });
    await suite.case('run', async () => {
      await this.put('runs', httpJob());
      const { response } = await this.jobs.runWithHttpOperationResponse(
        GROUP, COLLECTION, 'runs');
      equal(response.statusCode, 200);
    });
    await suite.case('deleteMethod, twice', async () => {
      for (let i = 0; i < 2; ++i) await this.jobs.deleteMethod(GROUP, COLLECTION, 'runs');
      await fails(404, 'NotFound', () => this.jobs.get(GROUP, COLLECTION, 'runs'));
    });
  }

  async lists() {
    await suite.case('list with top, skip and filter', async () => {
      const some = async (options) =>
        (await this.jobs.list(GROUP, COLLECTION, options)).map((job) => job.name);
      const names = await some({});
      holds(names.length >= 9 && names.includes(`${COLLECTION}/full`), names);
      equal(await some({ top: 3 }), names.slice(0, 3));
      equal(await some({ skip: 2 }), names.slice(2));
      equal(await some({ top: 3, skip: 2 }), names.slice(2, 5));
      equal(await some({ filter: 'state eq Disabled' }), [`${COLLECTION}/full`]);
      const enabled = names.filter((name) => name !== `${COLLECTION}/full`);
      equal(await some({ filter: 'state eq Enabled', top: 2, skip: 1 }), enabled.slice(1, 3));
      equal(await some({ filter: 'state eq Completed' }), []);
    });
  }

  async errors() {
    await suite.case('what is not there: 404 with ARM\'s words', async () => {
      equal(await fails(404, 'ResourceNotFound', () => this.collections.get(GROUP, 'nope')),
        'The Resource \'Microsoft.Scheduler/jobcollections/nope\' under resource group ' +
        '\'group\' was not found.');
      equal(await fails(404, 'NotFound', () => this.jobs.get(GROUP, COLLECTION, 'nope')),
        'Job \'nope\' cannot be found.');
      await fails(404, 'ParentResourceNotFound',
        () => this.jobs.createOrUpdate(GROUP, 'nope', 'job', httpJob()));
      await fails(404, 'ResourceNotFound', () => this.collections.enable(GROUP, 'nope'));
    });
    await suite.case('a malformed job: 400 with the path and the reason', async () => {
      const recurrence = { frequency: 'Week', schedule: { monthDays: [1] } };
      const message = await fails(400, 'BadRequest',
        () => this.put('broken', httpJob({ recurrence })));
      for (const part of ['Malformed Job Object', 'properties.recurrence.schedule.monthDays',
        'Cannot set days of month with recurrence unit \'Week\'.']) {
        holds(message.includes(part), message);
      }
    });
    await suite.case('beyond the quota, and run of a disabled job: 409', async () => {
      await fails(409, 'Conflict',
        () => this.put('often', httpJob({ recurrence: { frequency: 'Minute' } })));
      await fails(409, 'Conflict', () => this.jobs.run(GROUP, COLLECTION, 'full'));
    });
    await suite.case('a filter that means nothing: 400', async () => {
      await fails(400, 'BadRequest',
        () => this.jobs.list(GROUP, COLLECTION, { filter: 'name eq x' }));
    });
  }

  // Its status has a member that this client does not know.
  async beingTried() {
    await suite.case('a job that waits for its retry can be read, and put back', async () => {
      await this.put('trying', httpJob({ startTime: undefined }));
      const read = () => this.jobs.get(GROUP, COLLECTION, 'trying');
      // Its target, a port where nobody listens, fails it at once.
      while ((await read()).properties.status.failureCount === 0);
      const job = await read();
      equal(job.properties.status.executionCount, 1);
      equal((await this.put('trying', job)).name, `${COLLECTION}/trying`);
      await this.jobs.deleteMethod(GROUP, COLLECTION, 'trying');
    });
  }
}

// All rows of a list, following nextLink as the client wants it followed.
async function everyPage(first, next) {
  const rows = [...first];
  let page = first;
  while (page.nextLink) {
    page = await next(page.nextLink);
    rows.push(...page);
  }
  return rows;
}

async function paging() {
  const names = Array.from({ length: PAGE + 1 }, (_, i) => `c${String(i).padStart(4, '0')}`);
  const base = `${server.url}/subscriptions/many/resourceGroups/${GROUP}/providers/` +
    'Microsoft.Scheduler/jobCollections';
  const body = JSON.stringify(collection('P10Premium'));
  const headers = { Authorization: `Bearer ${server.token ?? 'none'}` };
  for (const name of names) {
    await fetch(`${base}/${name}?api-version=2016-03-01`, { method: 'PUT', body, headers });
  }
  const { jobCollections } = connect('many');
  await suite.case(`the lists of ${PAGE + 1} collections go over a page`, async () => {
    const all = await everyPage(await jobCollections.listBySubscription(),
      (link) => jobCollections.listBySubscriptionNext(link));
    equal(all.map((one) => one.name), names);
    const inGroup = await everyPage(await jobCollections.listByResourceGroup(GROUP),
      (link) => jobCollections.listByResourceGroupNext(link));
    equal(inGroup.map((one) => one.name), names);
  });
}

async function history() {
  await server.stop();
  const script = fileURLToPath(new URL('./history_rows.py', import.meta.url));
  execFileSync('/usr/bin/python3', [script, server.store, 'full', String(HISTORY_ROWS)]);
  await server.start();
  const { jobs } = connect();
  const some = (options) => jobs.listJobHistory(GROUP, COLLECTION, 'full', options);
  await suite.case('listJobHistory and listJobHistoryNext reach the last row', async () => {
    const rows = await everyPage(await some({}), (link) => jobs.listJobHistoryNext(link));
    equal(rows.map((row) => row.properties.repeatCount),
      Array.from({ length: HISTORY_ROWS }, (_, i) => HISTORY_ROWS - i));
  });
  await suite.case('listJobHistory with top and skip: strictly older rows', async () => {
    const [first, second] = [await some({ top: 5 }), await some({ top: 5, skip: 5 })];
    equal([...first, ...second].map((row) => row.id),
      (await some({ top: 10 })).map((row) => row.id));
    holds(second[0].properties.startTime < first[4].properties.startTime);
  });
  await suite.case('listJobHistory filtered: Completed has no status, Failed has', async () => {
    const statuses = async (filter) =>
      [...new Set((await some({ filter })).map((row) => row.properties.status))];
    equal(await statuses('status eq Completed'), [undefined]);
    equal(await statuses('status eq Failed'), ['failed']);
  });
  await suite.case('a row of the history', async () => {
    const [row] = await some({ top: 1 });
    equal(row.type, 'Microsoft.Scheduler/jobCollections/jobs/history');
    holds(row.id.endsWith(row.name.split('/')[2]), row.id);
    const { expectedExecutionTime, startTime, endTime, retryCount, actionName, message } =
      row.properties;
    holds(expectedExecutionTime < startTime && startTime < endTime);
    equal([retryCount, actionName, message], [0, 'MainAction', `row ${HISTORY_ROWS}`]);
  });
}

try {
  await server.start();
  const tour = new Tour(connect());
  await tour.collectionOperations();
  await tour.httpActions();
  await tour.sealedHeaders();
  await tour.messageActions();
  await tour.recurrences();
  await tour.patchRunDelete();
  await tour.lists();
  await tour.errors();
  await tour.beingTried();
  await paging();
  await history();
  await server.stop();
} finally {
  server.remove();
}
suite.finish();
