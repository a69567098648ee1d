# SPDX-License-Identifier: MIT
"""Callers with tokens of their own, made by the owner of a server that runs with --auth token."""
from rest import Client


def scope_of(subscription=None, group=None, collection=None):
    scope = f"/subscriptions/{subscription}" if subscription else "/"
    scope += f"/resourceGroups/{group}" if group else ""
    return scope + (f"/providers/Microsoft.Scheduler/jobCollections/{collection}"
                    if collection else "")


class Owner:
    """The owner of everything, who can make others."""

    def __init__(self, server):
        self.port = server.port
        self.client = Client(server.port, server.token)

    def token(self, *assignments, name="test", **more):
        """What POST /belfry/tokens answers for (role, scope), …"""
        body = {"name": name, **more,
                "assignments": [{"role": role, "scope": scope} for role, scope in assignments]}
        answer = self.client.request("POST", "/belfry/tokens", body, query=None)
        if answer.status != 201:
            raise AssertionError(repr(answer))
        return answer.json

    def caller(self, *assignments, **more):
        return Client(self.port, self.token(*assignments, **more)["token"])

    def revoke(self, token_id):
        return self.client.delete(f"/belfry/tokens/{token_id}", query=None)
