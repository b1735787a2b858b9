// Scenarios 16 to 21: what runs when, said with the SDK's own builders and done by its own runner.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import {
  ConductorWorkflow,
  doWhileTask,
  dynamicForkTask,
  dynamicTask,
  forkTaskJoin,
  inlineTask,
  joinTask,
  jsonJqTask,
  newLoopTask,
  setVariableTask,
  simpleTask,
  subWorkflowTask,
  switchTask,
  terminateTask,
} from "@io-orkes/conductor-javascript";
import { connect, fresh, taskDef } from "./house.mjs";

const N = "${workflow.input.n}";
const house = await connect();
const add = fresh("add");
const plan = fresh("plan");
const completed = (outputData) => ({ status: "COMPLETED", outputData });
await house.metadata.registerTasks([taskDef(add), taskDef(plan)]);
const workers = house.employ([
  { taskDefName: add, concurrency: 4, execute: async ({ inputData }) => completed({ n: inputData.n + 1 }) },
  { taskDefName: plan, execute: async ({ inputData }) => completed(branches(inputData.numbers)) },
]);
after(() => workers.stopPolling());

/** One step for each number, and what each is given. */
function branches(numbers) {
  return {
    steps: numbers.map((number) => simpleTask(`each_${number}`, add, {})),
    inputs: Object.fromEntries(numbers.map((number) => [`each_${number}`, { n: number }])),
  };
}

const flow = () => new ConductorWorkflow(house.workflows, fresh("flow"));
const adding = (reference, n = N) => simpleTask(reference, add, { n });

async function played(flow, input) {
  await flow.register(true);
  return house.ended(await flow.startWorkflow(input));
}

const references = (end) => end.tasks.map((task) => task.referenceTaskName);
const taskOf = (end, reference) => end.tasks.find((task) => task.referenceTaskName === reference);
const outputOf = (end, reference) => taskOf(end, reference).outputData;

function went(end, status, expected) {
  assert.deepEqual([end.status, ...references(end)], [status, ...expected]);
}

test("16 a join gathers its branches", async () => {
  const wanted = flow()
    .fork([[adding("left"), adding("left_again", "${left.output.n}")], [adding("right", 10)]])
    .add(adding("after", "${__join_1.output.left_again.n}"))
    .outputParameters({ n: "${after.output.n}", right: "${__join_1.output.right.n}" });
  const end = await played(wanted, { n: 1 });
  went(end, "COMPLETED", ["__fork_1", "left", "right", "__join_1", "left_again", "after"]);
  assert.deepEqual(end.output, { n: 4, right: 11 });
  assert.deepEqual([end.tasks[0].taskType, end.tasks[3].taskType], ["FORK", "JOIN"]);
  assert.deepEqual(outputOf(end, "__join_1"), { left_again: { n: 3 }, right: { n: 11 } });
});

test("16 a join on nothing waits for nothing", async () => {
  // The SDK makes one branch of all the tasks, and a join without any reference.
  const wanted = flow().add(forkTaskJoin("fork", [adding("first"), adding("second", "${first.output.n}")]));
  const end = await played(wanted, { n: 1 });
  went(end, "COMPLETED", ["fork", "first", "fork_join_ref", "second"]);
  assert.deepEqual([outputOf(end, "fork_join_ref"), outputOf(end, "second")], [{}, { n: 3 }]);
});

test("17 a worker names the branches", async () => {
  const wanted = flow()
    .add(simpleTask("plan", plan, { numbers: "${workflow.input.numbers}" }))
    .add(dynamicForkTask("fan", "${plan.output.steps}", "${plan.output.inputs}"))
    .add(joinTask("gather", []))
    .add(adding("after", "${gather.output.each_7.n}"));
  const end = await played(wanted, { numbers: [3, 7] });
  went(end, "COMPLETED", ["plan", "fan", "each_3", "each_7", "gather", "after"]);
  assert.deepEqual(outputOf(end, "gather"), { each_3: { n: 4 }, each_7: { n: 8 } });
  assert.deepEqual(outputOf(end, "after"), { n: 9 });
});

test("17 the branches stand in the definition", async () => {
  const { steps, inputs } = branches([1, 2]);
  const end = await played(flow().add(dynamicForkTask("fan", steps, inputs)).add(joinTask("gather", [])), {});
  went(end, "COMPLETED", ["fan", "each_1", "each_2", "gather"]);
  assert.deepEqual(outputOf(end, "gather"), { each_1: { n: 2 }, each_2: { n: 3 } });
});

test("17 one task for each input", async () => {
  const inputParameters = { forkTaskName: add, forkTaskInputs: "${workflow.input.numbers}" };
  const wanted = flow().add({ ...dynamicForkTask("fan"), inputParameters }).add(joinTask("gather", []));
  const end = await played(wanted, { numbers: [{ n: 3 }, { n: 7 }] });
  const [first, second] = [`_${add}_0`, `_${add}_1`];
  went(end, "COMPLETED", ["fan", first, second, "gather"]);
  assert.deepEqual(end.tasks[2].inputData, { n: 7, __index: 1 });
  assert.deepEqual(outputOf(end, "gather"), { [first]: { n: 4 }, [second]: { n: 8 } });
});

test("17 the data name a task", async () => {
  const chosen = dynamicTask("chosen", "${workflow.input.which}");
  chosen.inputParameters.n = N;
  const end = await played(flow().add(chosen), { which: add, n: 1 });
  went(end, "COMPLETED", ["chosen"]);
  assert.deepEqual([end.tasks[0].taskType, outputOf(end, "chosen")], [add, { n: 2 }]);
});

test("18 a value chooses the case", async () => {
  const cases = { gold: [adding("gold"), adding("silver")] };
  const wanted = flow()
    .add(switchTask("route", "${workflow.input.tier}", cases, [adding("any_other")]))
    .add(adding("after"));
  const taken = await played(wanted, { tier: "gold", n: 1 });
  went(taken, "COMPLETED", ["route", "gold", "silver", "after"]);
  assert.deepEqual(outputOf(taken, "route"), { evaluationResult: ["gold"], selectedCase: "gold" });
  const other = await played(wanted, { tier: "tin", n: 1 });
  went(other, "COMPLETED", ["route", "any_other", "after"]);
  assert.equal(outputOf(other, "route").selectedCase, "tin");
});

test("18 a program chooses the case", async () => {
  // The builder knows values only.
  const route = {
    ...switchTask("route", "", { many: [adding("many")] }, [adding("few")]),
    evaluatorType: "javascript",
    expression: "$.n > 10 ? 'many' : $.n",
    inputParameters: { n: N },
  };
  const wanted = flow().add(route);
  went(await played(wanted, { n: 11 }), "COMPLETED", ["route", "many"]);
  const other = await played(wanted, { n: 3 });
  went(other, "COMPLETED", ["route", "few"]);
  assert.deepEqual(outputOf(other, "route").evaluationResult, ["3"]);
});

test("19 a loop goes on while its condition holds", async () => {
  const loop = doWhileTask("loop", "$.loop.iteration < $.most && $.step.n < 4", [
    adding("step", "${loop.output.iteration}"),
  ]);
  loop.inputParameters.most = "${workflow.input.most}";
  const wanted = flow().add(loop).add(adding("after", "${step.output.n}"));
  const end = await played(wanted, { most: 10 });
  went(end, "COMPLETED", ["loop", "step__1", "step__2", "step__3", "after"]);
  assert.deepEqual(end.tasks.slice(1, 4).map((task) => task.iteration), [1, 2, 3]);
  const turns = { 1: { step: { n: 2 } }, 2: { step: { n: 3 } }, 3: { step: { n: 4 } } };
  assert.deepEqual(outputOf(end, "loop"), { iteration: 3, ...turns });
  assert.deepEqual(outputOf(end, "after"), { n: 5 });
  went(await played(wanted, { most: 1 }), "COMPLETED", ["loop", "step__1", "after"]);
});

test("19 a loop is counted", async () => {
  const body = [adding("first"), adding("second", "${first.output.n}")];
  const end = await played(flow().add(newLoopTask("loop", 2, body)), { n: 1 });
  went(end, "COMPLETED", ["loop", "first__1", "second__1", "first__2", "second__2"]);
  assert.deepEqual(outputOf(end, "loop")["2"], { first: { n: 2 }, second: { n: 3 } });
});

test("19 a loop goes over a list", async () => {
  const loop = doWhileTask("loop", "", [adding("step", "${loop.output.loopItem}")]);
  const end = await played(flow().add({ ...loop, items: "${workflow.input.numbers}" }), { numbers: [5, 8] });
  went(end, "COMPLETED", ["loop", "step__1", "step__2"]);
  const turns = { 1: { step: { n: 6 } }, 2: { step: { n: 9 } } };
  assert.deepEqual(outputOf(end, "loop"), { iteration: 2, loopIndex: 1, loopItem: 8, ...turns });
});

test("20 a child runs in a branch", async () => {
  const child = flow().add(adding("inside")).outputParameters({ n: "${inside.output.n}" });
  await child.register(true);
  const below = { ...subWorkflowTask("below", child.getName(), 1), inputParameters: { n: N } };
  const end = await played(flow().fork([[below], [adding("beside")]]), { n: 20 });
  went(end, "COMPLETED", ["__fork_1", "below", "beside", "__join_1"]);
  const { subWorkflowId } = taskOf(end, "below");
  assert.deepEqual(outputOf(end, "__join_1"), { below: { n: 21, subWorkflowId }, beside: { n: 21 } });
  const seen = await house.workflows.getWorkflow(subWorkflowId, true);
  assert.equal(seen.parentWorkflowId, end.workflowId);
  went(seen, "COMPLETED", ["inside"]);
});

test("20 a child brings its definition", async () => {
  const child = flow().add(adding("inside")).outputParameters({ n: "${inside.output.n}" });
  const below = { ...child.toSubWorkflowTask("below"), inputParameters: { n: N } };
  const end = await played(flow().add(below).add(adding("after", "${below.output.n}")), { n: 20 });
  went(end, "COMPLETED", ["below", "after"]);
  assert.deepEqual(outputOf(end, "after"), { n: 22 });
  const seen = await house.workflows.getWorkflow(taskOf(end, "below").subWorkflowId, true);
  assert.deepEqual([seen.workflowName, seen.parentWorkflowId, seen.input.n], [child.getName(), end.workflowId, 20]);
  went(seen, "COMPLETED", ["inside"]);
});

test("21 programs calculate", async () => {
  const double = inlineTask("double", "(function () { return {n: $.n * 2}; })()");
  const triple = inlineTask("triple", "$.n * 3", "graaljs");
  const sort = jsonJqTask("sort", ".numbers | sort | .[]");
  double.inputParameters.n = N;
  triple.inputParameters.n = "${double.output.result.n}";
  sort.inputParameters.numbers = [3, "${triple.output.result}", 1];
  const wanted = flow()
    .add([double, triple, sort, setVariableTask("note", { least: "${sort.output.result}" })])
    .outputParameters({ triple: "${triple.output.result}", least: "${workflow.variables.least}" });
  await wanted.register(true);
  const end = await wanted.execute({ n: 2 });
  went(end, "COMPLETED", ["double", "triple", "sort", "note"]);
  assert.deepEqual(end.output, { triple: 12, least: 1 });
  const seen = await house.workflows.getWorkflow(end.workflowId, true);
  assert.deepEqual(outputOf(seen, "double"), { result: { n: 4 } });
  assert.deepEqual(outputOf(seen, "sort"), { result: 1, resultList: [1, 3, 12] });
  assert.deepEqual(seen.variables, { least: 1 });
});

test("21 a program that throws fails the run", async () => {
  const end = await played(flow().add(inlineTask("broken", "$.nobody.knows")), {});
  assert.deepEqual([end.status, end.tasks[0].status], ["FAILED", "FAILED_WITH_TERMINAL_ERROR"]);
  assert.match(end.tasks[0].reasonForIncompletion, /undefined/);
  assert.deepEqual(outputOf(end, "broken"), { error: end.tasks[0].reasonForIncompletion });
});

test("21 a run ends early", async () => {
  const enough = terminateTask("enough", "FAILED", "there is too much");
  enough.inputParameters.workflowOutput = { n: N };
  const wanted = flow().add(switchTask("route", "${workflow.input.kind}", { much: [enough] })).add(adding("after"));
  const end = await played(wanted, { kind: "much", n: 11 });
  went(end, "FAILED", ["route", "enough"]);
  assert.deepEqual([end.reasonForIncompletion, end.output], ["there is too much", { n: 11 }]);
  went(await played(wanted, { kind: "little", n: 1 }), "COMPLETED", ["route", "after"]);
});
