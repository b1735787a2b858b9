// Scenario 12: tags, secrets and event handlers. The SDK has no client for the environment.
import assert from "node:assert/strict";
import { test } from "node:test";
import { connect, eventually, fresh, step, taskDef } from "./house.mjs";

const house = await connect();
const tag = (key, value) => ({ key, value, type: "METADATA" });
const pairs = (tags) => tags.map(({ key, value }) => `${key}=${value}`).sort();

test("12 workflows are tagged", async () => {
  const name = await house.define([step("one")]);
  await house.metadata.addWorkflowTag(tag("team", "a"), name);
  assert.deepEqual(pairs(await house.metadata.getWorkflowTags(name)), ["team=a"]);
  await house.metadata.setWorkflowTags([tag("team", "b"), tag("tier", "1")], name);
  assert.deepEqual(pairs(await house.metadata.getWorkflowTags(name)), ["team=b", "tier=1"]);
  await house.metadata.deleteWorkflowTag(tag("tier", "1"), name);
  assert.deepEqual(pairs(await house.metadata.getWorkflowTags(name)), ["team=b"]);
});

test("12 tasks are tagged", async () => {
  const name = fresh("task");
  await house.metadata.registerTask(taskDef(name));
  await house.metadata.addTaskTag(tag("team", "a"), name);
  await house.metadata.setTaskTags([tag("tier", "2")], name);
  assert.deepEqual(pairs(await house.metadata.getTaskTags(name)), ["tier=2"]);
  await house.metadata.deleteTaskTag(tag("tier", "2"), name);
  assert.deepEqual(await house.metadata.getTaskTags(name), []);
});

test("12 a workflow without a rate limit has none", async () => {
  const name = await house.define([step("one")]);
  assert.equal(await house.metadata.getWorkflowRateLimit(name), undefined);
});

test("12 secrets are kept", async () => {
  const key = fresh("secret");
  // The SDK sends a JSON string; what is kept has no quotes around it.
  await house.secrets.putSecret(key, 's3"cret');
  assert.equal(await house.secrets.getSecret(key), 's3"cret');
  assert.equal(await house.secrets.secretExists(key), true);
  assert.ok((await house.secrets.listAllSecretNames()).includes(key));
  assert.ok((await house.secrets.listSecretsThatUserCanGrantAccessTo()).includes(key));
  await house.secrets.setSecretTags([tag("team", "a")], key);
  assert.deepEqual(pairs(await house.secrets.getSecretTags(key)), ["team=a"]);
  await house.secrets.deleteSecretTags([tag("team", "a")], key);
  await house.secrets.deleteSecret(key);
  // `secretExists` of the SDK says true to every answer, so the names are asked.
  assert.ok(!(await house.secrets.listAllSecretNames()).includes(key));
});

test("12 event handlers start runs", async () => {
  const target = await house.define([step(fresh("nobody"), "only")]);
  const [name, source] = [fresh("handler"), fresh("source")];
  const event = `conductor:${source}:tell`;
  const actions = [{ action: "start_workflow", start_workflow: { name: target, version: 1, input: { n: "${n}" } } }];
  const handler = { name, event, actions, active: true };
  // The SDK sends a list.
  await house.events.addEventHandler(handler);
  await assert.rejects(house.events.addEventHandlers([handler]), /exists/);
  assert.ok((await house.events.getAllEventHandlers()).some((each) => each.name === name));
  assert.deepEqual((await house.events.getEventHandlersForEvent(event)).map((each) => each.name), [name]);
  assert.equal((await house.events.getEventHandlerByName(name)).event, event);
  const tell = step("tell", "tell", { type: "EVENT", sink: "conductor" });
  await house.ended(await house.start(await house.define([tell], {}, source), 42));
  const look = async () => (await house.workflows.search(0, 10, `workflowType = '${target}'`, "*")).results[0];
  const started = await eventually(look, "the run of the handler");
  assert.equal((await house.workflows.getWorkflow(started.workflowId, false)).input.n, 42);
  await house.events.putTagForEventHandler(name, [tag("team", "a")]);
  assert.deepEqual(pairs(await house.events.getTagsForEventHandler(name)), ["team=a"]);
  await house.events.deleteTagsForEventHandler(name, [tag("team", "a")]);
  await house.events.updateEventHandler({ ...handler, active: false });
  assert.deepEqual(await house.events.getEventHandlersForEvent(event, true), []);
  await house.events.removeEventHandler(name);
  assert.ok(!(await house.events.getAllEventHandlers()).some((each) => each.name === name));
});
