// Scenarios 3 to 6 and 13: the SDK's own runner does the work.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { NonRetryableException, getTaskContext } from "@io-orkes/conductor-javascript";
import { connect, eventually, fresh, step, taskDef } from "./house.mjs";

const RUNS = 50;
const house = await connect();
const completed = (outputData) => ({ status: "COMPLETED", outputData });

/** A task type and a workflow that adds one three times. */
async function threeSteps() {
  const task = fresh("add");
  await house.metadata.registerTask(taskDef(task));
  const after = (reference) => ({ inputParameters: { n: `\${${reference}.output.n}` } });
  const steps = [step(task, "first"), step(task, "second", after("first")), step(task, "third", after("second"))];
  return { task, name: await house.define(steps, { outputParameters: { n: "${third.output.n}" } }) };
}

async function allAddUp(name) {
  const runs = await Promise.all(Array.from({ length: RUNS }, (_, n) => house.start(name, n)));
  const ends = await Promise.all(runs.map((run) => house.ended(run)));
  ends.forEach((end, n) => {
    assert.deepEqual([end.status, end.output.n, end.tasks.length], ["COMPLETED", n + 3, 3]);
  });
  return ends;
}

test("03 several pollers complete fifty runs", async () => {
  const { task, name } = await threeSteps();
  const execute = async ({ inputData }) => {
    getTaskContext()?.addLog(`adding to ${inputData.n}`);
    return completed({ n: inputData.n + 1 });
  };
  const ends = await house.working([{ taskDefName: task, concurrency: 4, execute }], () => allAddUp(name));
  const logs = await house.tasks.getTaskLogs(ends[0].tasks[0].taskId);
  assert.deepEqual(logs.map((line) => line.log), ["adding to 0"]);
});

test("04 async workers complete fifty runs", async () => {
  const { task, name } = await threeSteps();
  let busy = 0;
  let busiest = 0;
  const execute = async ({ inputData }) => {
    busiest = Math.max(busiest, ++busy);
    await sleep(10);
    busy -= 1;
    return completed({ n: inputData.n + 1 });
  };
  await house.working([{ taskDefName: task, concurrency: 10, execute }], () => allAddUp(name));
  assert.ok(busiest > 1, "work was done side by side");
});

test("05 a failing worker is retried until it succeeds", async () => {
  const task = fresh("flaky");
  await house.metadata.registerTask(taskDef(task, { retryCount: 3, retryDelaySeconds: 0, retryLogic: "FIXED" }));
  const name = await house.define([step(task, "only")]);
  const execute = async ({ retryCount, inputData }) => {
    if (retryCount < 2) throw new Error(`attempt ${retryCount} of ${inputData.n} failed`);
    return completed({ attempt: retryCount });
  };
  const end = await house.working([{ taskDefName: task, execute }], async () => house.ended(await house.start(name, 9)));
  assert.equal(end.status, "COMPLETED");
  assert.deepEqual(end.tasks.map((attempt) => attempt.status), ["FAILED", "FAILED", "COMPLETED"]);
  assert.deepEqual(end.tasks.map((attempt) => attempt.retryCount), [0, 1, 2]);
  assert.equal(end.tasks[0].reasonForIncompletion, "attempt 0 of 9 failed");
});

test("05 a terminal error ends the run", async () => {
  const task = fresh("hopeless");
  await house.metadata.registerTask(taskDef(task, { retryCount: 3, retryDelaySeconds: 0 }));
  const name = await house.define([step(task, "only")]);
  const execute = async ({ inputData }) => {
    throw new NonRetryableException(`${inputData.n} can never work`);
  };
  const end = await house.working([{ taskDefName: task, execute }], async () => house.ended(await house.start(name, 4)));
  assert.equal(end.status, "FAILED");
  assert.deepEqual(end.tasks.map((attempt) => attempt.status), ["FAILED_WITH_TERMINAL_ERROR"]);
  assert.match(end.reasonForIncompletion, /4 can never work/);
});

test("06 a long task keeps its lease", async () => {
  const task = fresh("long");
  await house.metadata.registerTask(taskDef(task, { responseTimeoutSeconds: 5, retryCount: 3, retryDelaySeconds: 0 }));
  const name = await house.define([step(task, "only")]);
  const execute = async () => {
    await sleep(8_000);
    return completed({});
  };
  const worker = { taskDefName: task, leaseExtendEnabled: true, execute };
  const end = await house.working([worker], async () => house.ended(await house.start(name)));
  assert.equal(end.status, "COMPLETED");
  assert.deepEqual(end.tasks.map((attempt) => [attempt.status, attempt.pollCount]), [["COMPLETED", 1]]);
});

test("06 a worker asks to be called back", async () => {
  const task = fresh("patient");
  await house.metadata.registerTask(taskDef(task));
  const name = await house.define([step(task, "only")]);
  const execute = async ({ pollCount }) =>
    pollCount < 3 ? { status: "IN_PROGRESS", callbackAfterSeconds: 1, outputData: {} } : completed({ pollCount });
  const end = await house.working([{ taskDefName: task, execute }], async () => house.ended(await house.start(name)));
  assert.deepEqual([end.status, end.tasks[0].outputData], ["COMPLETED", { pollCount: 3 }]);
});

test("13 a child runs inside its parent", async () => {
  const { task, name: child } = await threeSteps();
  const inside = step(child, "child", { type: "SUB_WORKFLOW", subWorkflowParam: { name: child, version: 1 } });
  const parent = await house.define([inside], { outputParameters: { n: "${child.output.n}" } });
  const execute = async ({ inputData }) => completed({ n: inputData.n + 1 });
  const worker = { taskDefName: task, concurrency: 2, execute };
  const end = await house.working([worker], async () => house.ended(await house.start(parent, 10)));
  assert.deepEqual([end.status, end.output.n], ["COMPLETED", 13]);
  const below = await house.workflows.getWorkflow(end.tasks[0].subWorkflowId, false);
  assert.deepEqual([below.status, below.parentWorkflowId], ["COMPLETED", end.workflowId]);
});

test("13 a failed child is retried from its parent", async () => {
  const task = fresh("below");
  await house.metadata.registerTask(taskDef(task));
  const child = await house.define([step(task, "work")]);
  const inside = step(child, "child", { type: "SUB_WORKFLOW", subWorkflowParam: { name: child, version: 1 } });
  const run = await house.start(await house.define([inside]));
  const look = async () => (await house.workflows.getWorkflow(run, true)).tasks[0].subWorkflowId;
  const below = await eventually(look, "the child");
  await house.answer(below, "work", "FAILED");
  assert.equal((await house.ended(run)).status, "FAILED");
  await house.workflows.retry(run, true);
  await house.answer(below, "work");
  assert.equal((await house.ended(run)).status, "COMPLETED");
});
