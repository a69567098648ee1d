// SPDX-License-Identifier: MIT
//
// Tokens that must open no door. All but the forged ones are signed with the issuer's own key:
// it is what they say, or how they say it, that makes them bad.

import { SigningKey, hmacToken, signingInput } from './signing.mjs';

// `claims` are those of a good token, `rsa` and `ec` the keys that the issuer publishes; `foreign`
// is the address of something that would tell other keys if it were asked.
export function badTokens(claims, { rsa, ec, foreign }) {
  return { ...malformed(claims, rsa), ...badAlgorithms(claims, rsa, ec),
    ...badKeys(claims, rsa, ec, foreign), ...badSignatures(claims, rsa, ec),
    ...badClaims(claims, rsa) };
}

function malformed(claims, rsa) {
  const good = rsa.sign(claims);
  const [header, payload, signature] = good.split('.');
  return {
    'a word': 'token',
    'a good token without its last character': good.slice(0, -1),
    'a good token cut in half': good.slice(0, good.length / 2),
    'two parts': `${header}.${payload}`,
    'five parts, as encrypted ones have': `${good}.a.b`,
    'empty parts': '..',
    'no header': `.${payload}.${signature}`,
    'no claims': `${header}..${signature}`,
    'padding': `${good}==`,
    'the other alphabet': `+/+/.${payload}.${signature}`,
    'a character that is none of base64url': `${header}.${payload}~.${signature}`,
    'the token in quotation marks': `"${good}"`,
    'two tokens': `${good},${good}`,
    'a header that is a list': rsa.sign(claims, '["RS256"]'),
    'a header that is no JSON': rsa.sign(claims, 'alg=RS256'),
    'a header with a tail': rsa.sign(claims, `${JSON.stringify(rsa.header)}{}`),
    'a deep header': rsa.sign(claims,
      `{"alg":"RS256","kid":"${rsa.id}","a":${'['.repeat(50)}${']'.repeat(50)}}`),
    'claims that are a list': rsa.sign('[]'),
    'claims that are no JSON': rsa.sign('sub=ringer'),
    'claims with a tail': rsa.sign(`${JSON.stringify(claims)}x`),
    'deep claims': rsa.sign({ ...claims, x: JSON.parse('['.repeat(100) + ']'.repeat(100)) }),
  };
}

function badAlgorithms(claims, rsa, ec) {
  const out = {};
  for (const alg of ['none', 'None', 'NONE', 'nOnE', '', null]) {
    const text = signingInput({ ...rsa.header, alg }, claims);
    out[`alg ${alg}, unsigned`] = `${text}.`;
    out[`alg ${alg}, with a signature`] = rsa.sign(claims, { ...rsa.header, alg });
  }
  for (const alg of ['RS384', 'RS512', 'PS256', 'ES384', 'EdDSA', 'rs256', 'RSA-OAEP']) {
    out[`alg ${alg}`] = rsa.sign(claims, { ...rsa.header, alg });
  }
  const hs256 = { ...rsa.header, alg: 'HS256' };
  return { ...out,
    'no alg': rsa.sign(claims, { kid: rsa.id }),
    'alg twice': rsa.sign(claims, `{"alg":"none","alg":"RS256","kid":"${rsa.id}"}`),
    'HMAC with the public key': hmacToken(hs256, claims, rsa.publicPem),
    'HMAC with the public key, without its last line break':
      hmacToken(hs256, claims, rsa.publicPem.trim()),
    'HMAC with the modulus': hmacToken(hs256, claims, rsa.publicJwk.n),
    'HMAC with nothing': hmacToken(hs256, claims, ''),
    'HMAC under the name of RS256': hmacToken(rsa.header, claims, rsa.publicPem),
    'ES256 with the RSA key': rsa.sign(claims, { ...rsa.header, alg: 'ES256' }),
    'RS256 with the EC key': ec.sign(claims, { ...ec.header, alg: 'RS256' }),
  };
}

function badKeys(claims, rsa, ec, foreign) {
  const stranger = SigningKey.rsa(rsa.id);
  const withKid = (kid) => rsa.sign(claims, { ...rsa.header, kid });
  const strangers = (more) => stranger.sign(claims, { ...stranger.header, ...more });
  return {
    'an unknown kid': withKid('other'),
    'a kid that climbs': withKid('../../../../dev/null'),
    'a kid that is a file': withKid('file:///dev/null'),
    'a kid that is an address': withKid(`${foreign}/jwks`),
    'a kid for a database': withKid("x' UNION SELECT 'secret"),
    'a kid with a NUL': withKid(`${rsa.id}\0`),
    'a kid in another case': withKid(rsa.id.toUpperCase()),
    'an empty kid': withKid(''),
    'a long kid': withKid('k'.repeat(257)),
    'a number for a kid': withKid(1),
    'a list for a kid': withKid([rsa.id]),
    'no kid where there are two keys': withKid(undefined),
    "another's key under the name of ours": strangers({}),
    "another's key, brought along": strangers({ jwk: stranger.publicJwk }),
    "another's key, at an address": strangers({ jku: `${foreign}/jwks` }),
    "another's key, at an address, with its own id": stranger.sign(claims,
      { alg: 'RS256', kid: 'stranger', jku: `${foreign}/jwks` }),
    "another's certificate, at an address": strangers({ x5u: `${foreign}/certificate.pem` }),
    "another's certificate, brought along": strangers({ x5c: ['MIIB'] }),
    'critical extensions': rsa.sign(claims, { ...rsa.header, crit: ['b64'], b64: false }),
    'a logout token': rsa.sign(claims, { ...rsa.header, typ: 'logout+jwt' }),
    'an EC key under the id of the RSA key': ec.sign(claims, { ...ec.header, kid: rsa.id }),
  };
}

function badSignatures(claims, rsa, ec) {
  const [header, payload, signature] = rsa.sign(claims).split('.');
  const other = rsa.sign({ ...claims, sub: 'somebody else' }).split('.');
  const flipped = Buffer.from(signature, 'base64url');
  flipped[100] ^= 1;
  const ecText = signingInput(ec.header, claims);
  const zeros = Buffer.alloc(64).toString('base64url');
  return {
    'no signature': `${header}.${payload}.`,
    "another token's signature": `${header}.${payload}.${other[2]}`,
    "another token's claims": `${header}.${other[1]}.${signature}`,
    'one bit': `${header}.${payload}.${flipped.toString('base64url')}`,
    'ECDSA in ASN.1': ec.sign(claims, ec.header, 'der'),
    'r and s of zero': `${ecText}.${zeros}`,
    'r and s as large as can be': `${ecText}.${Buffer.alloc(64, 0xff).toString('base64url')}`,
  };
}

function badClaims(claims, rsa) {
  const withClaims = (more) => rsa.sign({ ...claims, ...more });
  const text = JSON.stringify(claims);
  const twice = (name, value) => rsa.sign(`${text.slice(0, -1)},"${name}":${value}}`);
  const now = Math.floor(Date.now() / 1000);
  return {
    'another issuer': withClaims({ iss: 'https://issuer.evil.test' }),
    'an issuer with a slash more': withClaims({ iss: `${claims.iss}/` }),
    'a list of issuers': withClaims({ iss: [claims.iss] }),
    'no issuer': withClaims({ iss: undefined }),
    'another audience': withClaims({ aud: 'https://other.test/' }),
    'an audience that begins like ours': withClaims({ aud: `${claims.aud}x` }),
    'other audiences': withClaims({ aud: ['a', 'b'] }),
    'a number among the audiences': withClaims({ aud: [claims.aud, 7] }),
    'no audience': withClaims({ aud: undefined }),
    'another tenant': withClaims({ tid: 'tenant-2' }),
    'a list of tenants': withClaims({ tid: [claims.tid] }),
    'no tenant': withClaims({ tid: undefined }),
    'expired': withClaims({ exp: now - 3600 }),
    'expired long ago': withClaims({ exp: 1 }),
    'no exp': withClaims({ exp: undefined }),
    'exp as a text': withClaims({ exp: String(now + 3600) }),
    'exp with a fraction': withClaims({ exp: now + 3600.5 }),
    'exp beyond all numbers': rsa.sign(text.replace(/"exp":\d+/, '"exp":99999999999999999999999')),
    'not valid yet': withClaims({ nbf: now + 3600 }),
    'nbf as a text': withClaims({ nbf: '1' }),
    'no sub': withClaims({ sub: undefined }),
    'an empty sub': withClaims({ sub: '' }),
    'a long sub': withClaims({ sub: 's'.repeat(257) }),
    'a sub with a line break': withClaims({ sub: 'a\nlevel=error' }),
    'sub twice': twice('sub', '"boss"'),
    'roles twice': twice('roles', '["Boss"]'),
    'aud twice, spelt otherwise': twice('a\\u0075d', '"x"'),
    'exp twice': twice('exp', now + 7200),
  };
}
