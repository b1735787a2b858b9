// Scenarios 1 and 2: definitions are registered, runs are started.
import assert from "node:assert/strict";
import { test } from "node:test";
import { MISSING, connect, fresh, step, taskDef, workflowDef } from "./house.mjs";

const house = await connect();

test("01 task definitions are registered and updated", async () => {
  const name = fresh("task");
  await house.metadata.registerTask(taskDef(name, { retryCount: 2, retryLogic: "LINEAR_BACKOFF" }));
  await house.metadata.registerTasks([taskDef(name, { retryCount: 2, retryLogic: "LINEAR_BACKOFF" })]);
  const read = await house.metadata.getTask(name);
  assert.deepEqual([read.name, read.retryCount, read.retryLogic], [name, 2, "LINEAR_BACKOFF"]);
  await house.metadata.updateTask(taskDef(name, { retryCount: 5 }));
  assert.equal((await house.metadata.getTask(name)).retryCount, 5);
  assert.ok((await house.metadata.getAllTaskDefs()).some((each) => each.name === name));
  await house.metadata.unregisterTask(name);
  await assert.rejects(house.metadata.getTask(name), /No such taskType found by name/);
});

test("01 workflow definitions are registered and overwritten", async () => {
  const name = fresh("workflow");
  await house.metadata.registerWorkflowDef(workflowDef(name, [step("one")], { description: "first" }), false);
  await assert.rejects(house.metadata.registerWorkflowDef(workflowDef(name, [step("two")]), false), /exists already/);
  await house.metadata.registerWorkflowDef(workflowDef(name, [step("two")], { description: "second" }), true);
  const read = await house.metadata.getWorkflowDef(name, 1);
  assert.deepEqual([read.description, read.tasks[0].taskReferenceName], ["second", "two"]);
  assert.ok((await house.metadata.getAllWorkflowDefs()).some((each) => each.name === name));
  await house.workflows.registerWorkflow(true, workflowDef(name, [step("three")]));
  assert.equal((await house.metadata.getWorkflowDef(name)).tasks[0].name, "three");
  await house.metadata.unregisterWorkflow(name, 1);
  await assert.rejects(house.metadata.getWorkflowDef(name, 1), /No such workflow found by name/);
});

test("01 a name with a blank and a slash is found again", async () => {
  const name = `${fresh("odd a")}/b`;
  await house.define([step("one")], {}, name);
  assert.equal((await house.metadata.getWorkflowDef(name, 1)).name, name);
});

test("01 an invalid definition is refused", async () => {
  await assert.rejects(house.define([]), /Validation failed, check below errors for detail/);
});

test("02 a run starts by request and by name", async () => {
  const name = await house.define([step("one")]);
  const run = await house.start(name, 7, { correlationId: "order-7", priority: 3 });
  // An id is a bare string: not quoted, not a stream.
  assert.match(run, /^[0-9a-f-]{36}$/);
  const seen = await house.workflows.getWorkflow(run, true);
  assert.deepEqual([seen.input, seen.correlationId, seen.priority], [{ n: 7 }, "order-7", 3]);
  const other = await house.workflows.startWorkflowByName(name, { n: 8 }, 1, "order-8");
  assert.deepEqual((await house.workflows.getExecution(other)).input, { n: 8 });
  assert.equal((await house.workflows.getWorkflowStatus(other, true, true)).status, "RUNNING");
  const several = await Promise.all(house.workflows.startWorkflows([1, 2].map(() => ({ name, version: 1 }))));
  assert.equal(new Set(several).size, 2);
});

test("02 an unknown workflow is not started", async () => {
  await assert.rejects(house.start(fresh("nobody")), /No such workflow defined\./);
});

test("02 a definition may come with the start", async () => {
  const name = fresh("inline");
  const run = await house.start(name, 1, { workflowDef: workflowDef(name, [step("one")]) });
  assert.equal((await house.workflows.getWorkflow(run, true)).tasks[0].referenceTaskName, "one");
});

test("02 a key starts one run", async () => {
  const name = await house.define([step("one")]);
  const idempotencyKey = fresh("key");
  const run = await house.start(name, 1, { idempotencyKey });
  for (const idempotencyStrategy of ["FAIL", "FAIL_ON_RUNNING"]) {
    await assert.rejects(house.start(name, 1, { idempotencyKey, idempotencyStrategy }), new RegExp(idempotencyKey));
  }
  assert.equal(await house.start(name, 1, { idempotencyKey, idempotencyStrategy: "RETURN_EXISTING" }), run);
  await house.workflows.terminate(run, "over");
  const next = await house.start(name, 1, { idempotencyKey, idempotencyStrategy: "FAIL_ON_RUNNING" });
  assert.notEqual(next, run);
  assert.equal((await house.workflows.getWorkflow(next, false)).idempotencyKey, idempotencyKey);
  assert.notEqual(await house.start(name, 1, { idempotencyStrategy: "FAIL" }), next);
});

test("02 a run that is not there is told by its id", async () => {
  await assert.rejects(house.workflows.getWorkflow(MISSING, true), new RegExp(`No such workflow found by id: ${MISSING}`));
});
