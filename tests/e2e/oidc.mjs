// SPDX-License-Identifier: MIT
//
// Bearer tokens of an issuer that nobody here wrote: what their claims entitle to, tokens that
// are good for nothing, and issuers that are down, slow, too talkative, or have new keys.
//
//     node oidc.mjs PATH_OF_BELFRY

import http from 'node:http';

import { badTokens } from '../issuer/bad_tokens.mjs';
import { Issuer } from '../issuer/issuer.mjs';
import { SigningKey } from '../issuer/signing.mjs';
import { Server } from './server.mjs';
import { Suite, binaryOf, equal, holds } from './suite.mjs';

const suite = new Suite();
const binary = binaryOf(process.argv);

const AUDIENCE = 'https://belfry.test/';
const TENANT = 'tenant-1';
const ROLES = { watcher: ['Watcher'], ringer: ['Ringer', 'Else'], maker: ['Maker'], nobody: [] };
const GRANTS = ['roles=Watcher:Reader@/subscriptions/s', 'roles=Ringer:Operator@/subscriptions/s',
  'roles=Maker:Contributor@/subscriptions/s/resourceGroups/g', 'client_id=boss:Owner@/'].join();
const CLIENTS = [...Object.keys(ROLES), 'boss'].map((name) => [name, `secret of ${name}`]);

const group = (name) => `/subscriptions/s/resourceGroups/${name}/providers/Microsoft.Scheduler`
  + '/jobCollections';
const COLLECTION = `${group('g')}/jc`;
const JOB = `${COLLECTION}/jobs/job`;
const COLLECTION_BODY = { location: 'here', properties: { sku: { name: 'Standard' } } };
const JOB_BODY = { properties: { startTime: '2099-01-01T00:00:00Z',
  action: { type: 'Http', request: { method: 'GET', uri: 'http://127.0.0.1:1/' } } } };

class Caller {
  constructor(server, token) {
    Object.assign(this, { server, token });
  }

  async ask(method, target, body) {
    const answer = await fetch(`${this.server.url}${target}?api-version=2016-03-01`, {
      method, body: body && JSON.stringify(body),
      headers: this.token === undefined ? {} : { authorization: `Bearer ${this.token}` } });
    const text = await answer.text();
    return { status: answer.status, headers: answer.headers, text,
      json: text ? JSON.parse(text) : undefined };
  }

  async status(method, target, body) {
    return (await this.ask(method, target, body)).status;
  }
}

async function serving(flags, show, grants = GRANTS) {
  const server = new Server(binary, '--auth', 'oidc', '--oidc-audience', AUDIENCE,
    '--oidc-grants', grants, ...flags);
  try {
    await server.start();
    await show(server);
    await server.stop();
  } finally {
    server.remove();
  }
}

const claimsOf = (client) => ({ tid: TENANT, roles: ROLES[client] });
const startIssuer = (more = {}) => new Issuer().start(CLIENTS, { claims: claimsOf, ...more });

// --- roles --------------------------------------------------------------------------------

async function showRoles(server, issuer) {
  const caller = async (client) => new Caller(server, await issuer.token(client, AUDIENCE));
  const boss = await caller('boss');
  const maker = await caller('maker');
  await suite.case('an owner by claim needs no other token, so none is printed', async () => {
    equal(server.token, undefined);
    equal(await boss.status('GET', '/belfry/tokens'), 200);
  });
  await suite.case('a contributor by claim makes a job, in its group alone', async () => {
    equal(await maker.status('PUT', COLLECTION, COLLECTION_BODY), 201);
    equal(await maker.status('PUT', JOB, JOB_BODY), 201);
    equal(await maker.status('PUT', `${group('other')}/jc`, COLLECTION_BODY), 404);
  });
  await suite.case('an operator by claim may run it, and not replace it', async () => {
    const ringer = await caller('ringer');
    equal(await ringer.status('POST', `${JOB}/run`), 200);
    const refused = await ringer.ask('PUT', JOB, JOB_BODY);
    equal([refused.status, refused.json.error.code], [403, 'AuthorizationFailed']);
    holds(refused.text.includes(`${issuer.url}#ringer`), refused.text);
  });
  await suite.case('a reader by claim may read it, and not run it', async () => {
    const watcher = await caller('watcher');
    equal(await watcher.status('GET', JOB), 200);
    equal(await watcher.status('POST', `${JOB}/run`), 403);
  });
  await suite.case('who has no claim that entitles is known, and sees nothing', async () => {
    const nobody = await caller('nobody');
    equal(await nobody.status('GET', JOB), 404);
    equal((await nobody.ask('GET', group('g'))).json.value, []);
  });
  await suite.case('the audit log says who it was', async () => {
    const { value } = (await boss.ask('GET', '/belfry/audit')).json;
    const row = value.find((one) => one.resource.endsWith('/jobs/job') && one.result === 'created');
    equal(row.principal, { kind: 'bearer', name: 'maker', id: `${issuer.url}#maker` });
  });
}

// --- tokens that are none -----------------------------------------------------------------

async function showBadTokens(server, issuer, keys) {
  const asked = [];
  const foreign = await listening((request, response) => {
    asked.push(request.url);
    response.end('{}');
  });
  const claims = { iss: issuer.url, aud: AUDIENCE, sub: 'boss', client_id: 'boss', tid: TENANT,
    roles: [], exp: Math.floor(Date.now() / 1000) + 3600 };
  const bad = badTokens(claims, { ...keys, foreign: foreign.url });
  await suite.case('the claims that the bad tokens are made of are good', async () => {
    equal(await new Caller(server, keys.rsa.sign(claims)).status('GET', COLLECTION), 200);
    equal(await new Caller(server, keys.ec.sign(claims)).status('GET', COLLECTION), 200);
  });
  for (const [name, token] of Object.entries(bad)) {
    await suite.case(`a bearer token that is none: ${name}`, async () => {
      const answer = await new Caller(server, token).ask('GET', COLLECTION);
      equal([answer.status, answer.json?.error.code, answer.headers.get('www-authenticate')],
        [401, 'AuthenticationFailed', 'Bearer']);
      holds(!answer.text.includes('jobCollections/jc'), answer.text);
    });
  }
  await suite.case('10 KB of a good token are good', async () => {
    const long = keys.rsa.sign({ ...claims, x: 'x'.repeat(7_000) });
    equal(await new Caller(server, long).status('GET', COLLECTION), 200);
  });
  await suite.case('20 and 100 KB are refused before they are looked at', async () => {
    for (const length of [15_000, 75_000]) {
      const token = keys.rsa.sign({ ...claims, x: 'x'.repeat(length) });
      equal(await new Caller(server, token).status('GET', COLLECTION), 431);
    }
  });
  await suite.case('nobody was asked for keys who was named by a token', () => equal(asked, []));
  await suite.case('all of them say the same', async () => {
    const said = new Set();
    for (const token of Object.values(bad)) {
      said.add((await new Caller(server, token).ask('GET', COLLECTION)).json.error.message);
    }
    equal(said.size, 1);
  });
  await suite.case('no token is in the log', () => {
    const log = server.log();
    for (const token of Object.values(bad)) {
      const signature = token.split('.')[2];
      holds(!(signature?.length > 20 && log.includes(signature)), signature);
    }
  });
  console.log(`${Object.keys(bad).length} bad tokens`);
  await foreign.close();
}

// --- issuers in trouble -------------------------------------------------------------------

async function listening(handle) {
  const server = http.createServer(handle);
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${server.address().port}`, close: () => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  } };
}

// A server whose issuer is at `url`, with a token of our own for it.
function troubled(url, show) {
  return serving(['--oidc-issuer', url], async (server) => {
    holds(server.token, 'nobody owns everything by claim: the first start prints a token');
    const key = SigningKey.rsa('k');
    const token = key.sign({ iss: url, aud: AUDIENCE, sub: 'watcher', roles: ['Watcher'],
      exp: Math.floor(Date.now() / 1000) + 3600 });
    await show({ server, key, own: new Caller(server, server.token),
      theirs: new Caller(server, token) });
  }, 'roles=Watcher:Reader@/');
}

async function expectUnavailable({ server, own, theirs }) {
  const answer = await theirs.ask('GET', COLLECTION);
  equal([answer.status, answer.json.error.code], [503, 'ServerBusy'], answer.text);
  equal(await own.status('GET', group('g')), 200);
  equal(await new Caller(server, 'garbage').status('GET', COLLECTION), 401);
}

async function showTrouble() {
  const gone = await listening(() => {});
  await gone.close();
  await suite.case('an issuer that is down: 503 for its tokens alone', () =>
    troubled(gone.url, async (place) => {
      await expectUnavailable(place);
      holds(place.server.log().includes('could not be obtained'), place.server.log());
    }));
  const endless = (response) => {
    const more = () => {
      while (!response.destroyed && response.write(' '.repeat(65536)));
    };
    response.on('drain', more);
    more();
  };
  const answers = {
    'says too much': (response) => response.end(' '.repeat(10_000_000)),
    'does not stop talking': endless,
    'talks nonsense': (response) => response.end('<html>'),
    'has no keys': (response) => response.end('{"keys":[]}'),
    'is broken': (response) => response.writeHead(500).end(),
    'sends us elsewhere': (response) => response.writeHead(302, { location: '/x' }).end(),
    'hangs up': (response) => response.destroy(),
  };
  for (const [name, answer] of Object.entries(answers)) {
    const issuer = await listening((_, response) => answer(response));
    await suite.case(`an issuer that ${name}: 503 for its tokens alone`, () =>
      troubled(issuer.url, expectUnavailable));
    await issuer.close();
  }
}

// More wait than there are workers; all of them are served when the keys come.
async function showSlowness() {
  const WAITING = 50;
  const held = [];
  let heldOne;
  const firstHeld = new Promise((resolve) => { heldOne = resolve; });
  const issuer = await listening((request, response) => {
    held.push(response);
    heldOne();
  });
  await suite.case('an issuer that is slow holds up its own tokens alone', () =>
    troubled(issuer.url, async ({ key, own, theirs }) => {
      const waiting = Array.from({ length: WAITING }, () => theirs.ask('GET', '/belfry/audit'));
      let answered = 0;
      for (const one of waiting) one.then(() => { answered += 1; });
      await firstHeld;
      equal(await own.status('PUT', COLLECTION, COLLECTION_BODY), 201);
      for (let i = 0; i < 20; i += 1) equal(await own.status('GET', COLLECTION), 200);
      equal(answered, 0);
      const metadata = { issuer: issuer.url, jwks_uri: `${issuer.url}/jwks` };
      held.shift().end(JSON.stringify(metadata));
      while (held.length === 0) equal(await own.status('GET', COLLECTION), 200);
      held.shift().end(JSON.stringify({ keys: [key.publicJwk] }));
      equal(new Set((await Promise.all(waiting)).map((one) => one.status)), new Set([200]));
    }));
  await issuer.close();
}

async function showRecovery() {
  const keys = [SigningKey.rsa('first').privateJwk];
  const issuer = await startIssuer({ keys });
  const { port } = issuer;
  const token = await issuer.token('watcher', AUDIENCE);
  await issuer.end();
  // No limit: what asks until it is let in here would have to pause.
  const flags = ['--oidc-issuer', issuer.url, '--limit-failed-authentications', '0'];
  await serving(flags, async (server) => {
    const caller = new Caller(server, token);
    await suite.case('an issuer that was down is asked again', async () => {
      equal(await caller.status('GET', group('g')), 503);
      const again = await startIssuer({ keys, port });
      let status;
      while ((status = await caller.status('GET', group('g'))) === 503);
      equal(status, 200);
      await again.end();
    });
    await suite.case('its keys are kept while it is down again', async () => {
      equal(await caller.status('GET', group('g')), 200);
    });
    await suite.case('a new key of the issuer is found by the token that names it', async () => {
      const renewed = await startIssuer({ keys: [SigningKey.rsa('second').privateJwk], port });
      const newer = new Caller(server, await renewed.token('watcher', AUDIENCE));
      let status;
      while ((status = await newer.status('GET', group('g'))) === 401);
      equal(status, 200);
      equal(await caller.status('GET', group('g')), 401, 'the old key is withdrawn');
      equal(renewed.keyRequests, 1);
      await renewed.end();
    });
  });
}

const keys = { rsa: SigningKey.rsa('rsa'), ec: SigningKey.ec('ec') };
const jwks = [keys.rsa.privateJwk, keys.ec.privateJwk];
for (const algorithm of ['RS256', 'ES256']) {
  const issuer = await startIssuer({ keys: jwks, algorithm });
  const other = await startIssuer();
  await serving(['--oidc-issuer', `${other.url}, ${issuer.url}`, '--oidc-tenant', TENANT],
    async (server) => {
      await showRoles(server, issuer);
      if (algorithm === 'RS256') await showBadTokens(server, issuer, keys);
      await suite.case('a second issuer is as good as the first', async () => {
        const watcher = new Caller(server, await other.token('watcher', AUDIENCE));
        equal(await watcher.status('GET', JOB), 200);
      });
      await suite.case(`the keys of the issuer (${algorithm}) were asked for a few times`, () =>
        holds(issuer.keyRequests >= 1 && issuer.keyRequests <= 3, issuer.keyRequests));
    });
  await issuer.end();
  await other.end();
}
await showTrouble();
await showSlowness();
await showRecovery();
suite.finish();
