// Scenario 7: what an operator does to a run. The SDK has no client for jumps and bulk operations.
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { connect, fresh, step, taskDef } from "./house.mjs";

const house = await connect();
const status = async (id) => (await house.workflows.getWorkflow(id, true)).status;
let name;
let run;

beforeEach(async () => {
  const task = fresh("task");
  await house.metadata.registerTask(taskDef(task));
  name = await house.define([step(task, "first"), step(task, "second")]);
  run = await house.start(name);
});

test("07 pause and resume", async () => {
  await house.workflows.pause(run);
  await house.workflows.pause(run);
  assert.equal(await status(run), "PAUSED");
  await house.workflows.resume(run);
  assert.equal(await status(run), "RUNNING");
  await assert.rejects(house.workflows.resume(run), /RUNNING|not paused/i);
});

test("07 terminate", async () => {
  await house.workflows.terminate(run, "not needed");
  const seen = await house.workflows.getWorkflow(run, true);
  assert.deepEqual([seen.status, seen.reasonForIncompletion], ["TERMINATED", "not needed"]);
  assert.equal(seen.tasks[0].status, "CANCELED");
});

test("07 retry", async () => {
  await house.answer(run, "first", "FAILED");
  assert.equal((await house.ended(run)).status, "FAILED");
  await house.workflows.retry(run, false);
  await house.answer(run, "first");
  await house.answer(run, "second");
  const end = await house.ended(run);
  assert.deepEqual(end.tasks.map((task) => task.status), ["FAILED", "COMPLETED", "COMPLETED"]);
  await assert.rejects(house.workflows.retry(run, false), /COMPLETED|nothing/i);
});

test("07 restart", async () => {
  await house.workflows.terminate(run, "again");
  await house.define([step("other")], {}, name);
  await house.workflows.restart(run, true);
  const seen = await house.workflows.getWorkflow(run, true);
  assert.deepEqual([seen.status, seen.tasks[0].referenceTaskName], ["RUNNING", "other"]);
});

test("07 rerun", async () => {
  await house.answer(run, "first");
  await house.answer(run, "second");
  const end = await house.ended(run);
  const reRunFromTaskId = end.tasks[1].taskId;
  assert.equal(await house.workflows.reRun(run, { reRunFromTaskId, taskInput: { n: 5 } }), run);
  assert.equal((await house.reached(run, "second")).inputData.n, 5);
});

test("07 skip", async () => {
  await house.workflows.skipTasksFromWorkflow(run, "second", { taskOutput: { skipped: true } });
  await house.answer(run, "first");
  const end = await house.ended(run);
  const second = end.tasks.find((task) => task.referenceTaskName === "second");
  assert.deepEqual([end.status, second.status, second.outputData], ["COMPLETED", "SKIPPED", { skipped: true }]);
});

test("07 variables and removal", async () => {
  const changed = await house.workflows.updateVariables(run, { colour: "red" });
  assert.deepEqual([changed.workflowId, changed.variables], [run, { colour: "red" }]);
  // It goes on: it ends first, and is gone.
  await house.workflows.deleteWorkflow(run);
  await assert.rejects(house.workflows.getWorkflow(run, true), /No such workflow found by id/);
});

test("07 a definition is tried with made up answers", async () => {
  const taskRefToMockOutput = { first: [{ status: "COMPLETED", output: { a: 1 } }], second: [{ status: "COMPLETED", output: {} }] };
  const tried = await house.workflows.testWorkflow({ name, version: 1, input: { n: 1 }, taskRefToMockOutput });
  assert.deepEqual([tried.status, tried.tasks[0].outputData.a], ["COMPLETED", 1]);
});
