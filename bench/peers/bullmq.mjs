// SPDX-License-Identifier: MIT
//
// BullMQ over a Redis that makes every write durable (appendfsync always), as all others here do.
import { Queue, Worker } from "bullmq";

const QUEUE = "bench";
const CONCURRENT = 100;
const BULK = 5000;

const connection = (url) => ({ host: "127.0.0.1", port: Number(new URL(url).port),
  maxRetriesPerRequest: null });
const options = (due) => ({ removeOnComplete: true,
  ...(due ? { delay: Math.max(due - Date.now(), 0) } : {}) });

export async function prepare() {}

export async function creator(url) {
  const queue = new Queue(QUEUE, { connection: connection(url) });
  return {
    one: (due) => queue.add("job", { due }, options(due)),
    async many(dues) {
      for (let at = 0; at < dues.length; at += BULK) {
        await queue.addBulk(dues.slice(at, at + BULK).map((due) => (
          { name: "job", data: { due }, opts: options(due) })));
      }
    },
    close: () => queue.close(),
  };
}

export async function work(url, handle) {
  const worker = new Worker(QUEUE, ({ data }) => handle(data.due), {
    connection: connection(url), concurrency: CONCURRENT });
  worker.on("error", (error) => console.error("bullmq:", error.message));
  await worker.waitUntilReady();
}
