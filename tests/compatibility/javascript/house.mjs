// The clients of one SDK user, and how a test waits for the server.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { OrkesClients, TaskManager } from "@io-orkes/conductor-javascript";

const DEADLINE_MS = 60_000;
const quiet = { debug() {}, info() {}, warn() {}, error() {} };
export const OPEN = process.env.SEMEL_URL;
export const MISSING = "00000000-0000-4000-8000-000000000000";

/** A name that no other test uses. */
export const fresh = (word) => `${word}_${randomUUID().slice(0, 8)}`;

export const taskDef = (name, more = {}) => ({
  name,
  ownerEmail: "team@example.com",
  retryCount: 0,
  timeoutSeconds: 300,
  responseTimeoutSeconds: 60,
  ...more,
});

export const step = (name, reference = name, more = {}) => ({
  name,
  taskReferenceName: reference,
  type: "SIMPLE",
  inputParameters: { n: "${workflow.input.n}" },
  ...more,
});

export const workflowDef = (name, tasks, more = {}) => ({
  name,
  version: 1,
  ownerEmail: "team@example.com",
  tasks,
  timeoutSeconds: 0,
  inputParameters: [],
  ...more,
});

/** What `look` gives once it is true. */
export async function eventually(look, what) {
  const deadline = Date.now() + DEADLINE_MS;
  for (;;) {
    const seen = await look();
    if (seen) return seen;
    assert.ok(Date.now() < deadline, `waited ${DEADLINE_MS} ms for ${what}`);
    await sleep(50);
  }
}

/** Each client of the SDK, made once. */
export async function connect(more = {}) {
  const clients = await OrkesClients.from({ serverUrl: OPEN, useEnvVars: false, logger: quiet, ...more });
  return new House(clients);
}

class House {
  constructor(clients) {
    this.client = clients.getClient();
    this.workflows = clients.getWorkflowClient();
    this.tasks = clients.getTaskClient();
    this.metadata = clients.getMetadataClient();
    this.secrets = clients.getSecretClient();
    this.events = clients.getEventClient();
  }

  /** Registers a workflow of these steps and returns its name. */
  async define(steps, more = {}, name = fresh("workflow")) {
    await this.metadata.registerWorkflowDef(workflowDef(name, steps, more), true);
    return name;
  }

  start(name, n = 1, more = {}) {
    return this.workflows.startWorkflow({ name, version: 1, input: { n }, ...more });
  }

  ended(run) {
    const look = async () => {
      const seen = await this.workflows.getWorkflow(run, true);
      return !["RUNNING", "PAUSED"].includes(seen.status) && seen;
    };
    return eventually(look, `the end of ${run}`);
  }

  /** The last attempt at this step, once it has this status. */
  reached(run, reference, status = "SCHEDULED") {
    const look = async () => {
      const { tasks } = await this.workflows.getWorkflow(run, true);
      const last = tasks.filter((task) => task.referenceTaskName === reference).at(-1);
      return last?.status === status && last;
    };
    return eventually(look, `${reference} of ${run} to be ${status}`);
  }

  async answer(run, reference, status = "COMPLETED", output = {}) {
    await this.reached(run, reference);
    await this.workflows.updateTaskByRefName(reference, run, status, output);
  }

  /** The SDK's own runner, with these workers, until it is stopped. */
  employ(workers) {
    const manager = new TaskManager(this.client, workers, { logger: quiet, options: { pollInterval: 20 } });
    manager.startPolling();
    return manager;
  }

  /** The same while `work` is done. */
  async working(workers, work) {
    const manager = this.employ(workers);
    try {
      return await work();
    } finally {
      await manager.stopPolling();
    }
  }
}
