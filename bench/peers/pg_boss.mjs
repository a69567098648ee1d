// SPDX-License-Identifier: MIT
//
// pg-boss as it is quickest: batches, every handler of a batch at once. Its own worker looks no
// oftener than twice a second, so there are eight of them, started apart; a backlog is worked off
// with fetch() and complete() in loops, which never wait while there is work.
import PgBoss from "pg-boss";

const QUEUE = "bench";
const WORKERS = 8;
const POLL_SECONDS = 0.5; // its minimum
const BATCH = 250;
const BULK = 5000;

async function open(url, connections) {
  const boss = new PgBoss({ connectionString: url, max: connections, supervise: false,
    schedule: false });
  boss.on("error", (error) => console.error("pg-boss:", error.message));
  await boss.start();
  return boss;
}

const job = (due) => ({ name: QUEUE, data: { due },
  ...(due ? { startAfter: new Date(due) } : {}) });

export async function prepare(url) {
  const boss = await open(url, 4);
  await boss.createQueue(QUEUE);
  await boss.stop({ graceful: false });
}

export async function creator(url, atATime) {
  const boss = await open(url, atATime);
  return {
    one: (due) => boss.send(QUEUE, { due }, due ? { startAfter: new Date(due) } : {}),
    async many(dues) {
      for (let at = 0; at < dues.length; at += BULK) {
        await boss.insert(dues.slice(at, at + BULK).map(job));
      }
    },
    close: () => boss.stop({ graceful: false }),
  };
}

export async function work(url, handle, { backlog }) {
  const boss = await open(url, 10);
  const perform = (jobs) => Promise.all(jobs.map(({ data }) => handle(data.due)));
  const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  if (!backlog) {
    for (let i = 0; i < WORKERS; ++i) {
      await boss.work(QUEUE, { pollingIntervalSeconds: POLL_SECONDS, batchSize: BATCH }, perform);
      await pause((POLL_SECONDS * 1000) / WORKERS);
    }
    return;
  }
  const loop = async () => {
    while (true) {
      const jobs = await boss.fetch(QUEUE, { batchSize: BATCH });
      if (jobs.length === 0) await pause(POLL_SECONDS * 1000);
      else {
        await perform(jobs);
        await boss.complete(QUEUE, jobs.map(({ id }) => id));
      }
    }
  };
  for (let i = 0; i < 4; ++i) void loop();
}
