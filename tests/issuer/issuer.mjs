// SPDX-License-Identifier: MIT
//
// An issuer of tokens that nobody here wrote (npm oidc-provider), on a free port of 127.0.0.1:
// the client-credentials grant, signed tokens for whatever audience is asked for.

import http from 'node:http';

import Provider from 'oidc-provider';

export class Issuer {
  tokenRequests = 0;

  async start(clients) {
    this.server = http.createServer((request, response) => {
      if (request.url.endsWith('/token')) this.tokenRequests += 1;
      this.provider.callback()(request, response);
    });
    await new Promise((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    this.url = `http://127.0.0.1:${this.server.address().port}`;
    this.provider = new Provider(this.url, {
      clients: clients.map(([client_id, client_secret]) => ({
        client_id, client_secret, grant_types: ['client_credentials'], redirect_uris: [],
        response_types: [], token_endpoint_auth_method: 'client_secret_post' })),
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
            jwt: { sign: { alg: 'RS256' } },
          }),
        },
      },
    });
    return this;
  }

  async end() {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
