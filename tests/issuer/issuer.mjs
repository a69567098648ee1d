// SPDX-License-Identifier: MIT
//
// An issuer of tokens that nobody here wrote (npm oidc-provider), on 127.0.0.1: the
// client-credentials grant, signed tokens for whatever audience is asked for.

import http from 'node:http';

import Provider from 'oidc-provider';

export class Issuer {
  tokenRequests = 0;
  keyRequests = 0;

  // `keys`: private ones, as JWKs, to sign with; `claims`: what a client's tokens say besides.
  async start(clients, { keys, algorithm = 'RS256', claims = () => ({}), port = 0 } = {}) {
    this.clients = new Map(clients);
    this.server = http.createServer((request, response) => {
      if (request.url.endsWith('/token')) this.tokenRequests += 1;
      if (request.url.endsWith('/jwks')) this.keyRequests += 1;
      this.provider.callback()(request, response);
    });
    await new Promise((resolve) => this.server.listen(port, '127.0.0.1', resolve));
    this.port = this.server.address().port;
    this.url = `http://127.0.0.1:${this.port}`;
    this.provider = new Provider(this.url, {
      clients: clients.map(([client_id, client_secret]) => ({
        client_id, client_secret, grant_types: ['client_credentials'], redirect_uris: [],
        response_types: [], token_endpoint_auth_method: 'client_secret_post' })),
      ...(keys && { jwks: { keys } }),
      extraTokenClaims: (_, token) => claims(token.clientId),
      ttl: { ClientCredentials: 3600 },
      features: {
        clientCredentials: { enabled: true },
        devInteractions: { enabled: false },
        resourceIndicators: {
          enabled: true,
          getResourceServerInfo: (_, resource) => ({
            scope: '',
            audience: resource,
            accessTokenFormat: 'jwt',
            jwt: { sign: { alg: algorithm } },
          }),
        },
      },
    });
    return this;
  }

  // A token for that audience, as the client would ask for it.
  async token(client, audience) {
    const answer = await fetch(`${this.url}/token`, { method: 'POST', body: new URLSearchParams({
      grant_type: 'client_credentials', client_id: client,
      client_secret: this.clients.get(client), resource: audience }) });
    const body = await answer.json();
    if (!answer.ok) throw new Error(JSON.stringify(body));
    return body.access_token;
  }

  async end() {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
