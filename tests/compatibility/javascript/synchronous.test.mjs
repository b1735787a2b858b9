// Scenarios 8 and 9: a caller waits for a run, or wakes it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { MISSING, connect, fresh, step, taskDef } from "./house.mjs";

const house = await connect();
const request = (name, n = 1) => ({ name, version: 1, input: { n }, correlationId: "sync" });
const add = async ({ inputData }) => ({ status: "COMPLETED", outputData: { n: inputData.n + 1 } });

/** A workflow that waits twice. The SDK wraps what it is given to say into `taskOutput`. */
function waiting() {
  const wait = (reference) => step("wait", reference, { type: "WAIT", inputParameters: {} });
  return house.define([wait("wait_1"), wait("wait_2")], { outputParameters: { said: "${wait_1.output.taskOutput.said}" } });
}

const executed = (name, strategy) =>
  house.workflows.executeWorkflow(request(name), name, 1, fresh("request"), "", 10, "DURABLE", strategy);

test("08 execute gives the output", async () => {
  const task = fresh("add");
  await house.metadata.registerTask(taskDef(task));
  const name = await house.define([step(task, "only")], { outputParameters: { n: "${only.output.n}" } });
  const run = await house.working([{ taskDefName: task, execute: add }], () =>
    house.workflows.executeWorkflow(request(name, 4), name, 1, fresh("request")),
  );
  assert.deepEqual([run.status, run.output, run.correlationId], ["COMPLETED", { n: 5 }, "sync"]);
});

test("08 execute answers when the time is over", async () => {
  const name = await house.define([step(fresh("nobody"), "only")]);
  const run = await house.workflows.executeWorkflow(request(name), name, 1, fresh("r"), "", 1, "DURABLE", "TARGET_WORKFLOW");
  assert.deepEqual([run.status, run.tasks.map((task) => task.status)], ["RUNNING", ["SCHEDULED"]]);
});

test("08 execute waits until a step is over", async () => {
  const task = fresh("add");
  await house.metadata.registerTask(taskDef(task));
  const name = await house.define([step(task, "first"), step(fresh("nobody"), "second")]);
  const run = await house.working([{ taskDefName: task, execute: add }], () =>
    house.workflows.executeWorkflow(request(name), name, 1, fresh("request"), "first"),
  );
  assert.deepEqual([run.status, run.tasks[0].status], ["RUNNING", "COMPLETED"]);
});

test("08 execute tells what blocks", async () => {
  const name = await waiting();
  for (const strategy of ["TARGET_WORKFLOW", "BLOCKING_WORKFLOW"]) {
    const seen = await executed(name, strategy);
    assert.deepEqual([seen.responseType, seen.status], [strategy, "RUNNING"]);
    assert.equal(seen.targetWorkflowId, seen.workflowId);
  }
  for (const strategy of ["BLOCKING_TASK", "BLOCKING_TASK_INPUT"]) {
    const seen = await executed(name, strategy);
    assert.deepEqual([seen.responseType, seen.referenceTaskName], [strategy, "wait_1"]);
    assert.ok(seen.isBlockingTask() || seen.isBlockingTaskInput());
  }
});

test("09 a signal wakes a run", async () => {
  const run = await house.start(await waiting());
  await house.reached(run, "wait_1", "IN_PROGRESS");
  await house.workflows.signalAsync(run, "COMPLETED", { said: "hello" });
  await house.reached(run, "wait_1", "COMPLETED");
  await house.reached(run, "wait_2", "IN_PROGRESS");
  const answered = await house.workflows.signal(run, "COMPLETED", {});
  assert.deepEqual([answered.responseType, answered.workflowId, answered.status], ["TARGET_WORKFLOW", run, "COMPLETED"]);
  assert.deepEqual(answered.output, { said: "hello" });
});

test("09 a signal tells the next that blocks", async () => {
  const run = await house.start(await waiting());
  await house.reached(run, "wait_1", "IN_PROGRESS");
  const answered = await house.workflows.signal(run, "COMPLETED", {}, "BLOCKING_TASK");
  assert.deepEqual([answered.referenceTaskName, answered.taskType], ["wait_2", "WAIT"]);
});

test("09 a signal needs a run that waits", async () => {
  const run = await house.start(await house.define([step(fresh("nobody"), "only")]));
  await house.workflows.signalAsync(run, "COMPLETED", {});
  await assert.rejects(house.workflows.signalAsync(MISSING, "COMPLETED", {}), /No such workflow found by id/);
  await assert.rejects(house.workflows.signal(run, "COMPLETED", {}), new RegExp(run));
});

test("09 a step is answered and the run returned", async () => {
  const run = await house.start(await waiting());
  await house.reached(run, "wait_1", "IN_PROGRESS");
  const seen = await house.workflows.updateTaskSync("wait_1", run, "COMPLETED", { said: "by name" });
  assert.deepEqual([seen.workflowId, seen.tasks[0].status, seen.tasks[0].outputData], [run, "COMPLETED", { taskOutput: { said: "by name" } }]);
});

test("09 state is updated and waited for", async () => {
  const run = await house.start(await waiting());
  await house.reached(run, "wait_1", "IN_PROGRESS");
  const taskResult = { workflowInstanceId: run, status: "COMPLETED", outputData: { said: "state" } };
  const update = { taskReferenceName: "wait_1", taskResult, variables: { colour: "blue" } };
  const seen = await house.workflows.updateState(run, update, fresh("request"), "wait_1", 5);
  assert.deepEqual([seen.workflowId, seen.status, seen.variables], [run, "RUNNING", { colour: "blue" }]);
});
