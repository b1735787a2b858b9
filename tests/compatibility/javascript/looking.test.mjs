// Scenarios 10 and 11: finding runs and tasks, their logs and queues.
import assert from "node:assert/strict";
import { test } from "node:test";
import { MISSING, connect, eventually, fresh, step } from "./house.mjs";

const house = await connect();

/** The runs that match, once there are so many: the index follows a moment later. */
function found(query, count, freeText = "*", size = 100) {
  const look = async () => {
    const { results, totalHits } = await house.workflows.search(0, size, query, freeText, "startTime:ASC");
    assert.ok(totalHits >= results.length, "hits are counted");
    return results.length === count && results;
  };
  return eventually(look, `${count} runs with ${query}`);
}

test("10 runs are found", async () => {
  const name = await house.define([step(fresh("nobody"), "only")]);
  const idempotencyKey = fresh("key");
  const runs = [];
  for (const n of [0, 1, 2]) runs.push(await house.start(name, n, { correlationId: `c-${name}-${n}` }));
  const keyed = await house.start(name, 9, { idempotencyKey });
  await house.workflows.terminate(runs[0], "over");
  const all = await found(`workflowType = '${name}'`, 4);
  assert.deepEqual(all.map((each) => each.workflowId), [...runs, keyed]);
  const [ended] = await found(`workflowType = '${name}' AND status = 'TERMINATED'`, 1);
  assert.deepEqual([ended.workflowId, ended.correlationId], [runs[0], `c-${name}-0`]);
  assert.match(ended.startTime, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  assert.equal((await found(`idempotencyKey = '${idempotencyKey}'`, 1))[0].workflowId, keyed);
  await found(`workflowType IN (${name}) AND status IN (RUNNING,TERMINATED)`, 4);
  await found("", 4, name);
  await found(`workflowType = '${name}'`, 2, "*", 2);
});

test("10 a malformed query is refused", async () => {
  await assert.rejects(house.workflows.search(0, 10, "status ~ 'x'", "*"), /Incorrectly formatted query string/);
});

test("10 tasks are found", async () => {
  const task = fresh("sought");
  const run = await house.start(await house.define([step(task, "only")]));
  const look = async () => {
    const { totalHits, results } = await house.tasks.search(0, 10, undefined, "*", `taskDefName = '${task}'`);
    return totalHits === 1 && results[0];
  };
  const seen = await eventually(look, "the task");
  assert.deepEqual([seen.workflowId, seen.status, seen.taskDefName], [run, "SCHEDULED", task]);
});

test("10 runs are found by correlation", async () => {
  const name = await house.define([step(fresh("nobody"), "only")]);
  const correlationIds = [fresh("c"), fresh("c")];
  const runs = [];
  for (const correlationId of correlationIds) runs.push(await house.start(name, 1, { correlationId }));
  await house.workflows.terminate(runs[1], "over");
  const request = { correlationIds, workflowNames: [name] };
  const look = async () => {
    const seen = await house.workflows.getByCorrelationIds(request, true, true);
    return correlationIds.every((id) => seen[id]?.length === 1) && seen;
  };
  const seen = await eventually(look, "both runs");
  assert.deepEqual(correlationIds.map((id) => seen[id][0].workflowId), runs);
});

test("11 logs and tasks are read", async () => {
  const task = fresh("logged");
  const run = await house.start(await house.define([step(task, "only")]));
  const { taskId } = await house.reached(run, "only");
  await house.tasks.addTaskLog(taskId, "plain words");
  // The SDK sends a JSON string; what is kept has no quotes around it.
  await house.tasks.addTaskLog(taskId, 'say "hi"\nbye');
  const logs = await house.tasks.getTaskLogs(taskId);
  assert.deepEqual(logs.map((line) => line.log), ["plain words", 'say "hi"\nbye']);
  const seen = await house.tasks.getTask(taskId);
  assert.deepEqual([seen.workflowInstanceId, seen.status], [run, "SCHEDULED"]);
  assert.equal((await house.workflows.getTask(taskId)).taskId, taskId);
  await assert.rejects(house.tasks.getTask(MISSING), /Task not found for taskId/);
});

test("11 a result is reported once", async () => {
  const task = fresh("once");
  const run = await house.start(await house.define([step(task, "only")]));
  const { taskId } = await house.reached(run, "only");
  assert.equal(await house.workflows.updateTask(taskId, run, "COMPLETED", { n: 1 }), taskId);
  assert.equal(await house.workflows.updateTask(taskId, run, "COMPLETED", { n: 2 }), taskId);
  assert.deepEqual((await house.ended(run)).tasks[0].outputData, { n: 1 });
});

test("11 queues and polls are counted", async () => {
  const task = fresh("queued");
  const name = await house.define([step(task, "only")]);
  for (const n of [1, 2, 3]) await house.start(name, n);
  const sizes = await house.tasks.getQueueSizeForTask([task, "nobody"]);
  assert.equal(sizes[task], 3);
  const execute = async () => ({ status: "COMPLETED", outputData: {} });
  await house.working([{ taskDefName: task, execute }], () =>
    eventually(async () => (await house.tasks.getQueueSizeForTask([task]))[task] === 0, "an empty queue"),
  );
  const polls = await house.tasks.getTaskPollData(task);
  assert.deepEqual(polls.map((each) => each.queueName), [task]);
  assert.ok(polls[0].lastPollTime > 0);
});
