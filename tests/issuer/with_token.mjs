// SPDX-License-Identifier: MIT
//
// Runs a suite whose server knows an issuer, with a token of that issuer for an owner of
// everything in ISSUED_TOKEN.
//
//     node with_token.mjs COMMAND ARGUMENT…    the server's flags are put behind them

import { spawn } from 'node:child_process';
import { once } from 'node:events';

import { Issuer } from './issuer.mjs';

const AUDIENCE = 'https://belfry.test/';

const issuer = await new Issuer().start([['boss', 'a secret of the boss']],
  { claims: () => ({ roles: ['Belfry.Admin'] }) });
const token = await issuer.token('boss', AUDIENCE);
const [command, ...words] = process.argv.slice(2);
const suite = spawn(command, [...words, '--auth', 'oidc', '--oidc-issuer', issuer.url,
  '--oidc-audience', AUDIENCE, '--oidc-grants', 'roles=Belfry.Admin:Owner@/'],
{ stdio: 'inherit', env: { ...process.env, ISSUED_TOKEN: token } });
const [code] = await once(suite, 'exit');
await issuer.end();
process.exitCode = code ?? 1;
