// SPDX-License-Identifier: MIT
//
// One process of a peer; bench/peers_bench.py starts them and says what to do.
//
//   node peer.mjs PEER URL prepare
//   node peer.mjs PEER URL create COUNT AT_A_TIME     one by one; prints how many a second
//   node peer.mjs PEER URL bulk COUNT FIRST_DUE SPREAD_MS   FIRST_DUE 0: at once
//   node peer.mjs PEER URL work SINK_PORT backlog|timely    until standard input ends
import { Pool } from "undici";

const CONNECTIONS = 64;
const FAR_AWAY = Date.UTC(2100, 0, 1);

const [name, url, verb, ...rest] = process.argv.slice(2);
const peer = await import(`./${name}.mjs`);

// The call that a job makes, with the time it was due for the sink to look at.
function poster(port) {
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: CONNECTIONS });
  return async (due) => {
    const headers = { "content-type": "application/json" };
    if (due) headers["x-ms-scheduler-expected-execution-time"] = new Date(due).toISOString();
    const { body } = await pool.request({ path: "/", method: "POST", headers, body: "{}" });
    await body.dump();
  };
}

async function create(count, atATime) {
  const creator = await peer.creator(url, atATime);
  await creator.one(FAR_AWAY); // connections and statements are there before the clock runs
  const began = process.hrtime.bigint();
  let made = 0;
  const loop = async () => { while (made++ < count) await creator.one(FAR_AWAY); };
  await Promise.all(Array.from({ length: atATime }, loop));
  const seconds = Number(process.hrtime.bigint() - began) / 1e9;
  console.log(JSON.stringify({ per_second: count / seconds }));
  await creator.close();
}

async function bulk(count, firstDue, spread) {
  const creator = await peer.creator(url, 4);
  const due = (i) => (firstDue ? firstDue + (spread * i) / count : 0);
  await creator.many(Array.from({ length: count }, (_, i) => due(i)));
  await creator.close();
}

async function work(port, how) {
  await peer.work(url, poster(port), { backlog: how === "backlog" });
  console.log("working");
  process.stdin.resume();
  process.stdin.on("end", () => process.exit(0));
}

const verbs = {
  prepare: () => peer.prepare(url),
  create: () => create(Number(rest[0]), Number(rest[1])),
  bulk: () => bulk(Number(rest[0]), Number(rest[1]), Number(rest[2])),
  work: () => work(Number(rest[0]), rest[1]),
};
await verbs[verb]();
if (verb !== "work") process.exit(0);
