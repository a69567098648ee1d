// SPDX-License-Identifier: MIT
//
// A broker of AMQP 1.0 on npm's rhea that speaks as Service Bus does: TLS, SASL ANONYMOUS, and
// tokens put to $cbs, whose signatures it checks with Node's own crypto. Queues keep what they
// are sent until somebody takes it. A queue may be told to refuse.

import { createHmac } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const rhea = createRequire(import.meta.url)('rhea');

const CREDIT = 100;

export class AmqpBroker extends EventEmitter {
  queues = new Map();
  keys = new Map();  // by name
  behaviours = new Map();  // what a queue does with a delivery instead of keeping it
  tokens = [];  // every token that was put: { audience, good }
  connections = new Set();
  connected = 0;  // connections, ever

  constructor(tls) {
    super();
    this.tls = tls;
    this.container = rhea.create_container({ id: 'broker',
      receiver_options: { autoaccept: false, credit_window: 0 } });
    this.container.sasl_server_mechanisms.enable_anonymous();
    this.container.on('connection_open', ({ connection }) => { connection.claims = new Map(); });
    this.container.on('receiver_open', (context) => this.onReceiver(context));
    this.container.on('sender_open', (context) => this.onSender(context));
    this.container.on('sendable', ({ sender }) => this.deliver(sender));
    this.container.on('sender_draining', ({ sender }) => sender.set_drained(true));
    this.container.on('message', (context) => this.onMessage(context));
    for (const event of ['disconnected', 'error', 'protocol_error', 'connection_error']) {
      this.container.on(event, () => {});
    }
  }

  // The second time on the port of the first.
  async start() {
    const tls = this.tls && { transport: 'tls', key: readFileSync(this.tls.key),
      cert: readFileSync(this.tls.cert) };
    this.listener = this.container.listen({ port: this.port ?? 0, host: '127.0.0.1', ...tls });
    this.listener.on('connection', (socket) => {
      this.connected += 1;
      this.connections.add(socket);
      socket.on('close', () => this.connections.delete(socket));
    });
    await once(this.listener, 'listening');
    this.port = this.listener.address().port;
    return this;
  }

  // As if the power had gone.
  async stop() {
    const closed = once(this.listener, 'close');
    this.listener.close();
    for (const socket of this.connections) socket.destroy();
    await closed;
  }

  queue(name, behaviour) {
    this.queues.set(name, []);
    if (behaviour) this.behaviours.set(name, behaviour);
    return this.queues.get(name);
  }

  // Resolves when that many messages have ever been kept there.
  async received(name, count) {
    while (this.queues.get(name).length < count) await once(this, 'kept');
    return this.queues.get(name);
  }

  onReceiver({ receiver, connection }) {
    const address = receiver.target.address;
    receiver.set_target({ address });
    if (address === '$cbs') return receiver.add_credit(CREDIT);
    if (!this.queues.has(address)) {
      return receiver.close({ condition: 'amqp:not-found',
        description: `The messaging entity '${address}' could not be found.` });
    }
    if (!this.mayUse(connection, address)) {
      return receiver.close({ condition: 'amqp:unauthorized-access',
        description: `'Send' claims are required on '${address}'.` });
    }
    if (this.behaviours.get(address) !== 'starve') receiver.add_credit(CREDIT);
    return undefined;
  }

  onSender({ sender, connection }) {
    sender.set_source({ address: sender.source.address });
    if (sender.source.address === '$cbs') connection.replies = sender;
  }

  mayUse(connection, address) {
    return (connection.claims.get(address) ?? 0) > Date.now() / 1000;
  }

  onMessage({ message, receiver, delivery, connection }) {
    const address = receiver.target.address;
    receiver.add_credit(1);
    if (address === '$cbs') {
      delivery.accept();
      return this.onToken(connection, message);
    }
    const behaviour = this.behaviours.get(address);
    if (typeof behaviour === 'function') return behaviour(delivery);
    if (!this.mayUse(connection, address)) {
      return receiver.close({ condition: 'amqp:unauthorized-access',
        description: 'The token has expired.' });
    }
    this.queues.get(address).push(message);
    delivery.accept();
    this.emit('kept');
    return undefined;
  }

  onToken(connection, message) {
    const { operation, type, name } = message.application_properties;
    const expires = this.expiryOf(name, message.body);
    const good = operation === 'put-token' && type === 'servicebus.windows.net:sastoken'
      && expires > Date.now() / 1000;
    const { pathname } = new URL(name.replace(/^sb:/, 'http:'));
    if (good) connection.claims.set(pathname.slice(1), expires);
    this.tokens.push({ audience: name, good });
    this.emit('token');
    connection.replies.send({ correlation_id: message.message_id, body: null,
      application_properties: { 'status-code': rhea.types.wrap_int(good ? 202 : 401),
        'status-description': good ? 'Accepted' : 'InvalidSignature: the token has no valid '
          + 'signature.' } });
  }

  // Until when the token is good for `audience`; 0 when its signature is not.
  expiryOf(audience, token) {
    const fields = new URLSearchParams(token.replace(/^SharedAccessSignature /, ''));
    const signed = `${encodeURIComponent(fields.get('sr'))}\n${fields.get('se')}`;
    const key = this.keys.get(fields.get('skn')) ?? '';
    const signature = createHmac('sha256', key).update(signed).digest('base64');
    const covered = audience === fields.get('sr') || audience.startsWith(`${fields.get('sr')}/`);
    return signature === fields.get('sig') && covered && key ? Number(fields.get('se')) : 0;
  }

  // What the queue holds goes to whoever reads it.
  deliver(sender) {
    const messages = this.queues.get(sender.source?.address);
    while (messages?.length > 0 && sender.sendable()) sender.send(messages.shift());
  }
}
