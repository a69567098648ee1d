// SPDX-License-Identifier: MIT
//
// Keys of an issuer, and tokens signed with them: such as it would write, and such as it never
// would.

import crypto from 'node:crypto';

const base64url = (bytes) => Buffer.from(bytes).toString('base64url');
const written = (part) => base64url(typeof part === 'string' ? part : JSON.stringify(part));

export class SigningKey {
  static rsa(id) {
    return new SigningKey(id, 'RS256', crypto.generateKeyPairSync('rsa', { modulusLength: 2048 }));
  }

  static ec(id) {
    return new SigningKey(id, 'ES256', crypto.generateKeyPairSync('ec', { namedCurve: 'P-256' }));
  }

  constructor(id, algorithm, { privateKey, publicKey }) {
    Object.assign(this, { id, algorithm, privateKey, publicKey });
  }

  // As the issuer keeps it, and as it publishes it.
  get privateJwk() {
    return this.#jwk(this.privateKey);
  }

  get publicJwk() {
    return this.#jwk(this.publicKey);
  }

  get publicPem() {
    return this.publicKey.export({ type: 'spki', format: 'pem' });
  }

  get header() {
    return { alg: this.algorithm, typ: 'at+jwt', kid: this.id };
  }

  // `header` and `claims` are objects, or texts that are taken as they are.
  sign(claims, header = this.header, dsaEncoding = 'ieee-p1363') {
    const text = signingInput(header, claims);
    const signature = crypto.sign('sha256', Buffer.from(text),
      { key: this.privateKey, dsaEncoding });
    return `${text}.${base64url(signature)}`;
  }

  #jwk(key) {
    return { ...key.export({ format: 'jwk' }), kid: this.id, alg: this.algorithm, use: 'sig' };
  }
}

export function signingInput(header, claims) {
  return `${written(header)}.${written(claims)}`;
}

export function hmacToken(header, claims, secret) {
  const text = signingInput(header, claims);
  return `${text}.${base64url(crypto.createHmac('sha256', secret).update(text).digest())}`;
}
