// SPDX-License-Identifier: MIT
//
// HTTP jobs that prove who they are: with a client certificate to a TLS server that demands
// one, and with a token from an OAuth2 issuer that nobody here wrote.
//
//     node authentication.mjs PATH_OF_BELFRY

import { execFileSync } from 'node:child_process';
import crypto from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { Suite, binaryOf, equal, holds } from '../e2e/suite.mjs';
import { Issuer } from '../issuer/issuer.mjs';
import { Stage, certificate, freePort } from './stage.mjs';

const suite = new Suite();
const binary = binaryOf(process.argv);
const folder = mkdtempSync(path.join(tmpdir(), 'belfry-authentication-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const PASSWORD = 'open-sesame';

const openssl = (...words) => execFileSync('openssl', words,
  { stdio: ['ignore', 'pipe', 'ignore'] });
const call = (uri, authentication, more = {}) => ({ type: 'Http',
  request: { method: 'POST', uri, authentication, ...more } });

// In base64; `more` may ask for the ciphers of old Windows.
function pfx({ key, cert }, ...more) {
  return openssl('pkcs12', '-export', ...more, '-inkey', key, '-in', cert, '-passout',
    `pass:${PASSWORD}`).toString('base64');
}

// A certificate that was good until yesterday; it signs itself, so a server can trust it.
function expiredCertificate() {
  const [key, request, cert] = ['key', 'csr', 'pem'].map((end) => path.join(folder, `old.${end}`));
  openssl('req', '-new', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes',
    '-keyout', key, '-out', request, '-subj', '/CN=old');
  openssl('x509', '-req', '-in', request, '-signkey', key, '-days', '-1', '-out', cert);
  return { key, cert };
}

async function listen(server) {
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server.address().port;
}

// --- client certificates -----------------------------------------------------------------

class Demanding {
  seen = [];

  async start(own, trusted) {
    this.server = https.createServer({ key: readFileSync(own.key), cert: readFileSync(own.cert),
      ca: readFileSync(trusted.cert), requestCert: true, rejectUnauthorized: true },
    (request, response) => {
      this.seen.push(request.socket.getPeerCertificate().fingerprint.replaceAll(':', ''));
      response.end('welcome');
    });
    this.url = `https://127.0.0.1:${await listen(this.server)}/`;
    return this;
  }

  end() {
    this.server.closeAllConnections();
    return new Promise((resolve) => this.server.close(resolve));
  }
}

async function certificates() {
  const own = certificate(folder, 'server');
  const client = certificate(folder, 'client');
  const stranger = certificate(folder, 'stranger');
  const target = await new Demanding().start(own, client);
  const stage = await new Stage(binary, '--ca-file', own.cert).start();
  const thumbprint = new crypto.X509Certificate(readFileSync(client.cert)).fingerprint
    .replaceAll(':', '');
  const shows = (from, ...more) => ({ type: 'ClientCertificate', pfx: pfx(from, ...more),
    password: PASSWORD });

  for (const [name, ...more] of [['modern'], ['old', '-legacy']]) {
    await suite.case(`a server that demands a certificate is shown it (${name} pfx)`, async () => {
      const [row] = await stage.run(name, call(target.url, shows(client, ...more)));
      equal(row.status, undefined, row.message);
      equal(target.seen.pop(), thumbprint);
    });
  }
  await suite.case('the answer has what the certificate says of itself, no secret', async () => {
    const { authentication } = (await stage.job('modern')).action.request;
    equal(Object.keys(authentication).sort(), ['certificateExpiration',
      'certificateExpirationDate', 'certificateSubjectName', 'certificateThumbprint', 'type']);
    equal(authentication.certificateThumbprint, thumbprint);
    equal(authentication.certificateSubjectName, 'CN=client');
  });
  await suite.case('without a certificate, or with a stranger\'s, the attempt fails', async () => {
    for (const [name, how] of [['without', undefined], ['stranger', shows(stranger)]]) {
      const message = await stage.failure(name, call(target.url, how));
      holds(message.startsWith("Http Action - Request to host '127.0.0.1' failed: "), message);
    }
    equal(target.seen, []);
  });
  await suite.case('an expired certificate fails, and the preflight says so before', async () => {
    const old = expiredCertificate();
    const strict = await new Demanding().start(own, old);
    await stage.failure('expired', call(strict.url, shows(old)));
    equal(strict.seen, []);
    await stage.put('expiredlater', call(strict.url, shows(old)),
      { startTime: '2040-01-01T00:00:00Z' });
    const { action } = await stage.preflight('expiredlater');
    const last = action.checks.at(-1);
    equal([last.check, last.passed], ['certificate', false]);
    holds(last.detail.includes('expired on'), last.detail);
    await strict.end();
  });
  await suite.case('two jobs with different certificates do not share a connection', async () => {
    await stage.run('mine', call(target.url, shows(client)));
    await stage.failure('theirs', call(target.url, shows(stranger)));
    equal(target.seen.splice(0), [thumbprint]);
  });
  await suite.case('a pfx that does not open is refused, and names its place', async () => {
    const wrong = { ...shows(client), password: 'wrong' };
    const { status, error } = await stage.refusal('wrong', call(target.url, wrong));
    equal(status, 400);
    holds(error.message.includes('properties.action.request.authentication.pfx'), error.message);
    holds(error.message.includes('cannot be opened with this password'), error.message);
    holds(!error.message.includes(wrong.pfx), 'no secret in the message');
  });
  await suite.case('a PATCH without authentication keeps it, null removes it', async () => {
    const later = { startTime: '2031-01-01T00:00:00Z' };
    await stage.put('later', call(target.url, shows(client)), later);
    await stage.patch('later', { action: { request: { body: 'changed' } } });
    equal((await stage.job('later')).action.request.authentication.certificateThumbprint,
      thumbprint);
    await stage.patch('later', { action: { request: { authentication: null } } });
    equal((await stage.job('later')).action.request.authentication, undefined);
  });
  await target.end();
  await stage.end();
}

// --- tokens --------------------------------------------------------------------------------

// Lets in who has a token that the issuer signed for this audience.
class Guarded {
  seen = 0;

  refused = 0;

  async start(issuer, audience) {
    const { keys } = await (await fetch(`${issuer.url}/jwks`)).json();
    const key = crypto.createPublicKey({ key: keys[0], format: 'jwk' });
    this.server = http.createServer((request, response) => {
      const [head, payload, signature] = (request.headers.authorization ?? '')
        .replace(/^Bearer /, '').split('.');
      const good = signature && this.lets !== false
        && crypto.verify('RSA-SHA256', Buffer.from(`${head}.${payload}`), key,
          Buffer.from(signature, 'base64url'))
        && JSON.parse(Buffer.from(payload, 'base64url')).aud === audience;
      this[good ? 'seen' : 'refused'] += 1;
      response.writeHead(good ? 200 : 401).end();
    });
    this.url = `http://127.0.0.1:${await listen(this.server)}/`;
    return this;
  }

  end() {
    this.server.closeAllConnections();
    return new Promise((resolve) => this.server.close(resolve));
  }
}

const AUDIENCE = 'https://management.core.windows.net/';
const oauth = (more = {}) => ({ type: 'ActiveDirectoryOAuth', tenant: 'contoso',
  audience: AUDIENCE, clientId: 'belfry', secret: 'pa$$ w&rd=%', ...more });

async function tokens() {
  const issuer = await new Issuer().start([['belfry', oauth().secret]]);
  const target = await new Guarded().start(issuer, AUDIENCE);
  const stage = await new Stage(binary, '--oauth-endpoint', `${issuer.url}/token`).start();

  await suite.case('a target that wants a token is called with one from the issuer', async () => {
    const [row] = await stage.run('first', call(target.url, oauth()));
    equal(row.status, undefined, row.message);
    equal([target.seen, issuer.tokenRequests], [1, 1]);
  });
  await suite.case('two hundred attempts share one token', async () => {
    for (let i = 0; i < 200; ++i) await stage.put(`many${i}`, call(target.url, oauth()));
    await stage.move('PT1S');
    equal([target.seen, target.refused, issuer.tokenRequests], [201, 0, 1]);
  });
  await suite.case('a token that the target refuses is not used again', async () => {
    target.lets = false;
    await stage.failure('refused', call(target.url, oauth()));
    target.lets = true;
    await stage.run('again', call(target.url, oauth()));
    equal([target.seen, issuer.tokenRequests], [202, 2]);
  });
  await suite.case('a wrong secret fails with the issuer\'s words, and shows none', async () => {
    const wrong = oauth({ secret: 'not-the-secret' });
    const message = await stage.failure('wrong', call(target.url, wrong));
    holds(message.startsWith('Http Action - The access token could not be obtained: '
      + "'127.0.0.1' answered "), message);
    holds(message.includes('invalid_client'), message);
    holds(!message.includes(wrong.secret), message);
    equal(target.seen, 202);
  });
  await suite.case('the secret is not shown again', async () => {
    equal((await stage.job('first')).action.request.authentication,
      { tenant: 'contoso', audience: AUDIENCE, clientId: 'belfry', type: 'ActiveDirectoryOAuth' });
  });
  await stage.end();
  await target.end();
  await issuer.end();
}

async function issuerTrouble() {
  const hanging = net.createServer();
  const slow = await listen(hanging);
  const troubles = [
    ['down', await freePort(), 'ConnectFailure', {}],
    ['slow', slow, 'Timeout The operation has timed out', { timeout: 'PT1S' }],
  ];
  for (const [name, port, words, more] of troubles) {
    const stage = await new Stage(binary, '--oauth-endpoint',
      `http://127.0.0.1:${port}/{tenant}/token`).start();
    await suite.case(`an issuer that is ${name} is a failed attempt that says so`, async () => {
      const message = await stage.failure(name,
        { ...call('http://127.0.0.1:9/', oauth()), ...more });
      holds(message.includes('The access token could not be obtained: '), message);
      holds(message.includes(words), message);
    });
    await stage.end();
  }
  hanging.close();
}

async function freeCollections() {
  const stage = await new Stage(binary).start();
  await suite.case('free collections refuse authentication', async () => {
    await stage.request('PUT', '/subscriptions/s/resourceGroups/g/providers/Microsoft.Scheduler'
      + '/jobCollections/jc', { location: 'here', properties: { sku: { name: 'Free' } } });
    const { status, error } = await stage.refusal('no', call('https://example.com/', oauth()));
    equal(status, 400);
    holds(error.message.includes('uthentication'), error.message);
  });
  await stage.end();
}

await certificates();
await tokens();
await issuerTrouble();
await freeCollections();
suite.finish();
