// Scenarios 14 and 15: with authentication, and credentials where there is none.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { connect, fresh, step, taskDef } from "./house.mjs";

const { SEMEL_AUTH_URL, SEMEL_AUTH_KEY, SEMEL_AUTH_SECRET, SEMEL_TOKEN_SECONDS } = process.env;
const lifetime = Number(SEMEL_TOKEN_SECONDS) * 1000;

// Without a refresh in the background, so that only the server's rejection brings a new token.
function guarded(more = {}) {
  assert.ok(SEMEL_AUTH_URL, "there is no server with authentication");
  const credentials = { keyId: SEMEL_AUTH_KEY, keySecret: SEMEL_AUTH_SECRET, refreshTokenInterval: 0 };
  return connect({ serverUrl: SEMEL_AUTH_URL, ...credentials, ...more });
}

test("14 a key and its secret open the door", async () => {
  const house = await guarded();
  const run = await house.start(await house.define([step("one")]));
  assert.equal((await house.workflows.getWorkflow(run, true)).status, "RUNNING");
});

test("14 an expired token is replaced", async () => {
  const house = await guarded();
  const name = await house.define([step("one")]);
  await sleep(lifetime + 1000);
  assert.ok(await house.start(name));
});

test("14 workers outlive their tokens", async () => {
  const house = await guarded();
  const task = fresh("add");
  await house.metadata.registerTask(taskDef(task));
  const name = await house.define([step(task, "only")]);
  const execute = async () => ({ status: "COMPLETED", outputData: {} });
  await house.working([{ taskDefName: task, execute }], async () => {
    assert.equal((await house.ended(await house.start(name))).status, "COMPLETED");
    await sleep(lifetime + 1000);
    assert.equal((await house.ended(await house.start(name))).status, "COMPLETED");
  });
});

test("14 a wrong secret does not", async () => {
  assert.ok(SEMEL_AUTH_URL, "there is no server with authentication");
  // The SDK would try for two minutes; a logger that throws ends that at the first refusal.
  const warn = (text) => assert.fail(text);
  const logger = { debug() {}, info() {}, error() {}, warn };
  await assert.rejects(guarded({ keySecret: "wrong", logger }), /Initial token request failed/);
});

test("14 nothing is told without a token", async () => {
  const house = await guarded({ keyId: "", keySecret: "" });
  await assert.rejects(house.workflows.search(0, 1, "", "*"));
});

test("15 an open server takes credentials for nothing", async () => {
  const house = await connect({ keyId: "key", keySecret: "secret" });
  assert.ok(await house.start(await house.define([step("one")])));
});
