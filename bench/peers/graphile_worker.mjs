// SPDX-License-Identifier: MIT
//
// graphile-worker with its own means for throughput (a local queue, completions in batches) for a
// backlog, and polling twenty times as often as by default for lateness: the local queue would
// make that worse.
import { Logger, makeWorkerUtils, run } from "graphile-worker";

const TASK = "bench";
const CONCURRENT = 64;
const POLL_MS = 100;
const BULK = 5000;
// Errors alone: a line per job would be part of what is measured.
const logger = new Logger(() => (level, message) => {
  if (level === "error") console.error("graphile-worker:", message);
});

const spec = (due) => ({ identifier: TASK, payload: { due },
  ...(due ? { runAt: new Date(due) } : {}), maxAttempts: 4 });

export async function prepare(url) {
  const utils = await makeWorkerUtils({ connectionString: url });
  await utils.migrate();
  await utils.release();
}

export async function creator(url, atATime) {
  const utils = await makeWorkerUtils({ connectionString: url, maxPoolSize: atATime });
  return {
    one: (due) => utils.addJob(TASK, { due }, due ? { runAt: new Date(due) } : {}),
    async many(dues) {
      for (let at = 0; at < dues.length; at += BULK) {
        await utils.addJobs(dues.slice(at, at + BULK).map(spec));
      }
    },
    close: () => utils.release(),
  };
}

export async function work(url, handle, { backlog }) {
  const throughput = { localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 };
  await run({
    connectionString: url,
    taskList: { [TASK]: ({ due }) => handle(due) },
    preset: { worker: { concurrentJobs: CONCURRENT, maxPoolSize: CONCURRENT, logger,
      pollInterval: POLL_MS, ...(backlog ? throughput : {}) } },
    noHandleSignals: true,
  });
}
