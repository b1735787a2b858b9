//! # Routes: every path and verb of this release, with a request each of them accepts
//!
//! The tables of hostile input walk over this one: a new route belongs here first.

use serde_json::{Value, json};

use crate::house::House;
use crate::raw::{Answer, Request};
use crate::samples;

/// What a route reads from the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Nothing,
    Input,
    Start,
    Definition,
    Definitions,
    TaskDef,
    TaskDefs,
    Report,
    Handler,
    Tags,
    Tag,
    /// A start, by what is registered.
    Execute,
    Rehearsal,
    State,
    /// Names and correlation ids.
    Batch,
    /// Correlation ids.
    Names,
    /// Data for a run that is under way.
    Data,
    Rerun,
    Skip,
    Upgrade,
    /// Ids of executions.
    Ids,
    Application,
    /// Whether an effect has happened.
    Resolution,
    Schemas,
    /// A word about an effect.
    Effect,
    /// A word about a lock.
    Lock,
}

pub(crate) struct Route {
    pub(crate) method: &'static str,
    pub(crate) path: &'static str,
    pub(crate) shape: Shape,
}

const fn route(method: &'static str, path: &'static str, shape: Shape) -> Route {
    Route { method, path, shape }
}

pub(crate) const ROUTES: &[Route] = &[
    route("GET", "/", Shape::Nothing),
    route("GET", "/health", Shape::Nothing),
    route("GET", "/api/health", Shape::Nothing),
    route("GET", "/api/version", Shape::Nothing),
    route("GET", "/api-docs", Shape::Nothing),
    route("GET", "/swagger-ui/index.html", Shape::Nothing),
    route("GET", "/schemas/{file}", Shape::Nothing),
    route("GET", "/metrics", Shape::Nothing),
    route("GET", "/actuator/prometheus", Shape::Nothing),
    route("POST", "/api/metadata/workflow", Shape::Definition),
    route("PUT", "/api/metadata/workflow", Shape::Definitions),
    route("GET", "/api/metadata/workflow", Shape::Nothing),
    route("POST", "/api/metadata/workflow/validate", Shape::Definition),
    route("POST", "/api/lint", Shape::Definitions),
    route("GET", "/api/metadata/lint", Shape::Nothing),
    route("GET", "/api/metadata/workflow/names", Shape::Nothing),
    route("GET", "/api/metadata/workflow/names-and-versions", Shape::Nothing),
    route("GET", "/api/metadata/workflow/latest-versions", Shape::Nothing),
    route("GET", "/api/metadata/workflow/{name}/versions", Shape::Nothing),
    route("GET", "/api/metadata/workflow/{name}/rate-limit", Shape::Nothing),
    route("GET", "/api/metadata/tags", Shape::Nothing),
    route("GET", "/api/metadata/workflow/{name}/tags", Shape::Nothing),
    route("POST", "/api/metadata/workflow/{name}/tags", Shape::Tag),
    route("PUT", "/api/metadata/workflow/{name}/tags", Shape::Tags),
    route("DELETE", "/api/metadata/workflow/{name}/tags", Shape::Tag),
    route("GET", "/api/metadata/task/{name}/tags", Shape::Nothing),
    route("POST", "/api/metadata/task/{name}/tags", Shape::Tag),
    route("PUT", "/api/metadata/task/{name}/tags", Shape::Tags),
    route("DELETE", "/api/metadata/task/{name}/tags", Shape::Tag),
    route("GET", "/api/schema", Shape::Nothing),
    route("POST", "/api/schema", Shape::Schemas),
    route("GET", "/api/schema/{name}", Shape::Nothing),
    route("DELETE", "/api/schema/{name}", Shape::Nothing),
    route("GET", "/api/schema/{name}/{version}", Shape::Nothing),
    route("DELETE", "/api/schema/{name}/{version}", Shape::Nothing),
    route("POST", "/api/global_schema", Shape::Schemas),
    route("GET", "/api/global_schema/{name}", Shape::Nothing),
    route("GET", "/api/tasks/queue/sizes", Shape::Nothing),
    route("GET", "/api/tasks/queue/size", Shape::Nothing),
    route("GET", "/api/tasks/queue/all", Shape::Nothing),
    route("GET", "/api/tasks/queue/all/verbose", Shape::Nothing),
    route("GET", "/api/tasks/queue/polldata", Shape::Nothing),
    route("GET", "/api/tasks/queue/polldata/all", Shape::Nothing),
    route("GET", "/api/metadata/workflow/{name}", Shape::Nothing),
    route("DELETE", "/api/metadata/workflow/{name}/{version}", Shape::Nothing),
    route("POST", "/api/metadata/taskdefs", Shape::TaskDefs),
    route("PUT", "/api/metadata/taskdefs", Shape::TaskDef),
    route("GET", "/api/metadata/taskdefs", Shape::Nothing),
    route("GET", "/api/metadata/taskdefs/{name}", Shape::Nothing),
    route("DELETE", "/api/metadata/taskdefs/{name}", Shape::Nothing),
    route("POST", "/api/workflow", Shape::Start),
    route("POST", "/api/workflow/{name}", Shape::Input),
    route("GET", "/api/workflow/{id}", Shape::Nothing),
    route("DELETE", "/api/workflow/{id}", Shape::Nothing),
    route("POST", "/api/workflow/start/{name}/{version}", Shape::Input),
    route("POST", "/api/workflow/test", Shape::Rehearsal),
    route("POST", "/api/workflow/execute/{name}/{version}", Shape::Execute),
    route("POST", "/api/workflow/execute/{name}", Shape::Input),
    route("GET", "/api/workflow/execute/{name}", Shape::Nothing),
    route("GET", "/api/idempotency/workflow/{name}/{key}", Shape::Nothing),
    route("DELETE", "/api/idempotency/workflow/{name}/{key}", Shape::Nothing),
    route("GET", "/api/workflow/search", Shape::Nothing),
    route("GET", "/api/workflow/search-v2", Shape::Nothing),
    route("GET", "/api/workflow/search-by-tasks", Shape::Nothing),
    route("GET", "/api/workflow/search-by-tasks-v2", Shape::Nothing),
    route("GET", "/api/workflow/running/{name}", Shape::Nothing),
    route("GET", "/api/workflow/{name}/correlated/{key}", Shape::Nothing),
    route("POST", "/api/workflow/{name}/correlated", Shape::Names),
    route("GET", "/api/workflow/{name}/correlated", Shape::Nothing),
    route("POST", "/api/workflow/correlated/batch", Shape::Batch),
    route("POST", "/api/workflow/{id}/state", Shape::State),
    route("GET", "/api/workflow/{id}/tasks", Shape::Nothing),
    route("GET", "/api/workflow/{id}/status", Shape::Nothing),
    route("PUT", "/api/workflow/{id}/pause", Shape::Nothing),
    route("PUT", "/api/workflow/{id}/resume", Shape::Nothing),
    route("POST", "/api/workflow/{id}/variables", Shape::Data),
    route("POST", "/api/workflow/{id}/messages", Shape::Data),
    route("PUT", "/api/workflow/decide/{id}", Shape::Nothing),
    route("POST", "/api/workflow/{id}/resetcallbacks", Shape::Nothing),
    route("PUT", "/api/workflow/{id}/skiptask/only", Shape::Skip),
    route("POST", "/api/workflow/{id}/jump/only", Shape::Data),
    route("POST", "/api/workflow/{id}/jump", Shape::Data),
    route("POST", "/api/workflow/{id}/upgrade", Shape::Upgrade),
    route("POST", "/api/workflow/{id}/retry", Shape::Nothing),
    route("POST", "/api/workflow/{id}/restart", Shape::Nothing),
    route("POST", "/api/workflow/{id}/rerun", Shape::Rerun),
    route("DELETE", "/api/workflow/{id}/remove", Shape::Nothing),
    route("DELETE", "/api/workflow/{id}/terminate-remove", Shape::Nothing),
    route("PUT", "/api/workflow/bulk/pause", Shape::Ids),
    route("PUT", "/api/workflow/bulk/resume", Shape::Ids),
    route("POST", "/api/workflow/bulk/restart", Shape::Ids),
    route("POST", "/api/workflow/bulk/retry", Shape::Ids),
    route("POST", "/api/workflow/bulk/terminate", Shape::Ids),
    route("DELETE", "/api/workflow/bulk/remove", Shape::Ids),
    route("POST", "/api/workflow/bulk/delete", Shape::Ids),
    route("DELETE", "/api/workflow/bulk/terminate-remove", Shape::Ids),
    route("GET", "/api/workflow/{id}/explain", Shape::Nothing),
    route("GET", "/api/workflow/{id}/log", Shape::Nothing),
    route("POST", "/api/workflow/{id}/verify", Shape::Nothing),
    route("DELETE", "/api/workflow/{id}/parked", Shape::Nothing),
    route("GET", "/api/tasks/poll/{name}", Shape::Nothing),
    route("GET", "/api/tasks/poll/batch/{name}", Shape::Nothing),
    route("POST", "/api/tasks", Shape::Report),
    route("POST", "/api/tasks/update-v2", Shape::Report),
    route("POST", "/api/tasks/{id}/only/{status}", Shape::Input),
    route("POST", "/api/tasks/{id}/only/{status}/sync", Shape::Input),
    route("POST", "/api/tasks/{id}/{status}/signal", Shape::Input),
    route("POST", "/api/tasks/{id}/{status}/signal/sync", Shape::Input),
    route("GET", "/api/tasks/{task}", Shape::Nothing),
    route("GET", "/api/tasks/{task}/log", Shape::Nothing),
    route("POST", "/api/tasks/{task}/log", Shape::Nothing),
    route("POST", "/api/tasks/{task}/ack", Shape::Nothing),
    route("GET", "/api/tasks/queue/{name}/{task}", Shape::Nothing),
    route("POST", "/api/tasks/queue/requeue/{name}", Shape::Nothing),
    route("GET", "/api/tasks/search", Shape::Nothing),
    route("GET", "/api/tasks/search-v2", Shape::Nothing),
    route("GET", "/api/environment", Shape::Nothing),
    route("POST", "/api/effects/{scope}/{key}/resolve", Shape::Resolution),
    route("GET", "/api/environment/{key}", Shape::Nothing),
    route("PUT", "/api/environment/{key}", Shape::Nothing),
    route("DELETE", "/api/environment/{key}", Shape::Nothing),
    route("GET", "/api/environment/{key}/tags", Shape::Nothing),
    route("PUT", "/api/environment/{key}/tags", Shape::Tags),
    route("DELETE", "/api/environment/{key}/tags", Shape::Tags),
    route("GET", "/api/secrets", Shape::Nothing),
    route("POST", "/api/secrets", Shape::Nothing),
    route("GET", "/api/secrets-v2", Shape::Nothing),
    route("GET", "/api/secrets/v2", Shape::Nothing),
    route("GET", "/api/secrets/clearLocalCache", Shape::Nothing),
    route("GET", "/api/secrets/clearRedisCache", Shape::Nothing),
    route("GET", "/api/secrets/{key}", Shape::Nothing),
    route("PUT", "/api/secrets/{key}", Shape::Nothing),
    route("DELETE", "/api/secrets/{key}", Shape::Nothing),
    route("GET", "/api/secrets/{key}/exists", Shape::Nothing),
    route("GET", "/api/secrets/{key}/uses", Shape::Nothing),
    route("GET", "/api/secrets/{key}/tags", Shape::Nothing),
    route("PUT", "/api/secrets/{key}/tags", Shape::Tags),
    route("DELETE", "/api/secrets/{key}/tags", Shape::Tags),
    route("POST", "/api/effects/try-start", Shape::Effect),
    route("POST", "/api/effects/complete", Shape::Effect),
    route("POST", "/api/effects/renew", Shape::Effect),
    route("POST", "/api/effects/release", Shape::Effect),
    route("POST", "/api/effects/fail", Shape::Effect),
    route("GET", "/api/effects", Shape::Nothing),
    route("GET", "/api/effects/{name}/{key}", Shape::Nothing),
    route("DELETE", "/api/effects/{name}/{key}", Shape::Nothing),
    route("POST", "/api/locks/{name}/acquire", Shape::Lock),
    route("POST", "/api/locks/{name}/renew", Shape::Lock),
    route("POST", "/api/locks/{name}/release", Shape::Lock),
    route("GET", "/api/locks/{name}", Shape::Nothing),
    route("GET", "/api/locks", Shape::Nothing),
    route("DELETE", "/api/locks/{name}", Shape::Nothing),
    // Says 404 without a look at its body: authentication is off here.
    route("POST", "/api/token", Shape::Nothing),
    route("GET", "/api/token/userInfo", Shape::Nothing),
    route("GET", "/api/users/{user}", Shape::Nothing),
    route("GET", "/api/applications", Shape::Nothing),
    route("POST", "/api/applications", Shape::Application),
    route("GET", "/api/applications/key/{accessKey}", Shape::Nothing),
    route("GET", "/api/applications/{application}", Shape::Nothing),
    route("PUT", "/api/applications/{application}", Shape::Application),
    route("DELETE", "/api/applications/{application}", Shape::Nothing),
    route("POST", "/api/applications/{application}/roles/{role}", Shape::Nothing),
    route("DELETE", "/api/applications/{application}/roles/{role}", Shape::Nothing),
    route("GET", "/api/applications/{application}/accessKeys", Shape::Nothing),
    route("POST", "/api/applications/{application}/accessKeys", Shape::Nothing),
    route("DELETE", "/api/applications/{application}/accessKeys/{accessKey}", Shape::Nothing),
    route("POST", "/api/applications/{application}/accessKeys/{accessKey}/status", Shape::Nothing),
    route("GET", "/api/applications/{application}/tags", Shape::Nothing),
    route("PUT", "/api/applications/{application}/tags", Shape::Tags),
    route("DELETE", "/api/applications/{application}/tags", Shape::Tags),
    route("POST", "/api/event", Shape::Handler),
    route("PUT", "/api/event", Shape::Handler),
    route("GET", "/api/event", Shape::Nothing),
    route("GET", "/api/event/{event}", Shape::Nothing),
    route("DELETE", "/api/event/{name}", Shape::Nothing),
    route("GET", "/api/event/handler/{name}", Shape::Nothing),
    route("GET", "/api/event/{name}/tags", Shape::Nothing),
    route("PUT", "/api/event/{name}/tags", Shape::Tags),
    route("DELETE", "/api/event/{name}/tags", Shape::Tags),
];

/// Something to talk about: a definition, a running execution, a task held by worker `w`, a secret,
/// an environment value, a schema, an event handler and an application with a key.
pub(crate) struct Subject {
    name: String,
    pub(crate) workflow: String,
    pub(crate) task: Value,
    application: String,
    access_key: String,
}

impl Subject {
    pub(crate) fn made(house: &House, name: &str) -> Self {
        house.define(name);
        let workflow = house.start(name);
        for section in ["secrets", "environment"] {
            let put = Request::new("PUT", format!("/api/{section}/{name}")).body("a value");
            assert_eq!(house.send(&put).status, 200);
        }
        let id = |answer: &Answer| answer.json()["id"].as_str().unwrap_or_default().to_owned();
        let body = json!({"name": name});
        let application = id(&house.send(&Request::post("/api/applications", &body)));
        let keys = format!("/api/applications/{application}/accessKeys");
        let access_key = id(&house.send(&Request::new("POST", keys)));
        let task = house.claim(name);
        let subject = Self { name: name.to_owned(), workflow, task, application, access_key };
        let handler = Request::post("/api/event", &subject.handler());
        assert_eq!(house.send(&handler).status, 200);
        let schemas = Request::post("/api/schema", &subject.schemas());
        assert_eq!(house.send(&schemas).status, 200);
        subject
    }

    pub(crate) fn target(&self, route: &Route) -> String {
        route
            .path
            .replace("{name}", &self.name)
            .replace("{key}", &self.name)
            .replace("{scope}", &self.name)
            .replace("{event}", &format!("conductor:{}:only", self.name))
            .replace("{version}", "1")
            .replace("{id}", &self.workflow)
            .replace("{status}", "COMPLETED")
            .replace("{task}", self.task["taskId"].as_str().unwrap_or_default())
            .replace("{file}", "workflow.json")
            .replace("{application}", &self.application)
            .replace("{accessKey}", &self.access_key)
            .replace("{role}", "USER")
    }

    pub(crate) fn request(&self, route: &Route) -> Request {
        let request = Request::new(route.method, self.target(route));
        match self.sample(route.shape) {
            Value::Null => request,
            body => request.json(&body),
        }
    }

    /// A body with every field that means something; null for none.
    pub(crate) fn sample(&self, shape: Shape) -> Value {
        match shape {
            Shape::Nothing => Value::Null,
            Shape::Input => json!({"given": {"a": [1, 2.5, "x", null, true]}}),
            Shape::Start => self.start(),
            Shape::Definition => samples::definition(&self.name),
            Shape::Definitions => json!([samples::definition(&self.name)]),
            Shape::TaskDef => samples::task_definition(&self.name),
            Shape::TaskDefs => json!([samples::task_definition(&self.name)]),
            Shape::Report => self.report(),
            Shape::Handler => self.handler(),
            Shape::Data => json!({"given": {"a": [1, 2.5, "x", null, true]}}),
            Shape::Rerun => json!({"correlationId": "c", "taskInput": {"a": 1},
                "reRunFromWorkflowId": self.workflow, "reRunFromTaskId": self.task["taskId"],
                "workflowInput": {"given": 2}}),
            Shape::Skip => json!({"taskInput": {"a": 1}, "taskOutput": {"b": 2}}),
            Shape::Upgrade => json!({"name": self.name, "version": 1,
                "workflowInput": {"given": 2}, "taskOutput": {"only": {"b": 2}}}),
            Shape::Ids => json!([self.workflow]),
            Shape::Tag => json!({"key": "team", "type": "METADATA", "value": "a"}),
            Shape::Execute => json!({"correlationId": "c", "input": {"given": 1}, "priority": 5,
                "taskToDomain": {"*": "d"}, "createdBy": "me", "idempotencyKey": "k",
                "idempotencyStrategy": "RETURN_EXISTING"}),
            Shape::Rehearsal => self.rehearsal(),
            Shape::State => json!({"taskReferenceName": "only", "variables": {"v": 1},
                "taskResult": {"taskId": self.task["taskId"], "status": "IN_PROGRESS",
                    "outputData": {"n": 1}, "reasonForIncompletion": "why", "workerId": "w"}}),
            Shape::Names => json!(["c"]),
            Shape::Batch => json!({"correlationIds": ["c"], "workflowNames": [self.name]}),
            Shape::Application => json!({"name": self.name}),
            Shape::Resolution => json!({"applied": true, "output": {"n": 1}, "by": "me",
                "note": "seen in the books"}),
            Shape::Schemas => self.schemas(),
            Shape::Effect => json!({"scope": self.name, "key": self.name, "owner": "w",
                "leaseSeconds": 60, "fence": "1", "fingerprint": {"amount": [1, 2.5]},
                "onUnknown": "takeover", "retentionSeconds": 3600, "result": {"n": 1},
                "applied": false, "error": {"why": "x"}, "final": true}),
            Shape::Lock => json!({"owner": "w", "fence": "1", "leaseSeconds": 60,
                "waitSeconds": 0}),
            Shape::Tags => json!([{"key": "team", "type": "METADATA", "value": "a"}]),
        }
    }

    fn start(&self) -> Value {
        json!({"name": self.name, "version": 1, "correlationId": "c", "input": {"given": 1},
            "taskToDomain": {"*": "d"}, "workflowDef": samples::definition(&self.name), "priority": 5,
            "createdBy": "me", "idempotencyKey": "k", "idempotencyStrategy": "RETURN_EXISTING",
            "externalInputPayloadStoragePath": "p"})
    }

    fn rehearsal(&self) -> Value {
        let mocks = json!({"only": [{"status": "COMPLETED", "output": {"n": 1},
            "executionTime": 1, "queueWaitTime": 1}]});
        let child = json!({"child": {"taskRefToMockOutput": mocks}});
        json!({"name": self.name, "version": 1, "input": {"given": 1},
            "taskRefToMockOutput": mocks, "subWorkflowTestRequest": child})
    }

    fn schemas(&self) -> Value {
        let data = json!({"$schema": "http://json-schema.org/draft-07/schema#", "type": "object",
            "properties": {"a": {"type": ["number", "null"], "minimum": 0, "enum": [1, null]},
                "b": {"items": {"$ref": "#/definitions/b"}, "minItems": 1}},
            "patternProperties": {"^x": {"pattern": "a+", "format": "date"}},
            "required": ["a"], "additionalProperties": true,
            "definitions": {"b": {"anyOf": [{"const": {"c": 1}}, {"not": {}}]}}});
        json!([{"name": self.name, "version": 1, "type": "JSON", "data": data, "ownerApp": "o",
            "externalRef": "e", "createTime": 1, "updateTime": 2, "createdBy": "me",
            "updatedBy": "me"}])
    }

    fn handler(&self) -> Value {
        json!({"name": self.name, "event": format!("conductor:{}:only", self.name),
            "condition": "$.n > 1 && $.kind == 'book'", "evaluatorType": "javascript",
            "active": true, "description": "d", "createdBy": "me", "orgId": "o",
            "tags": [{"key": "a", "value": "b"}],
            "actions": [
                {"action": "start_workflow", "expandInlineJSON": true, "start_workflow": {
                    "name": self.name, "version": 1, "correlationId": "${id}",
                    "input": {"a": "${$.order}"}, "taskToDomain": {"*": "d"}, "priority": 3,
                    "idempotencyKey": "${id}", "idempotencyStrategy": "RETURN_EXISTING"}},
                {"action": "complete_task", "complete_task": {"workflowId": "${id}",
                    "taskRefName": "only", "output": {"a": 1}}},
                {"action": "fail_task", "fail_task": {"workflowId": "${id}", "taskId": "${task}",
                    "reasonForIncompletion": "${why}"}},
                {"action": "terminate_workflow", "terminate_workflow": {"workflowId": "${id}",
                    "terminationReason": "r"}},
                {"action": "update_workflow_variables", "update_workflow_variables": {
                    "workflowId": "${id}", "variables": {"a": [1]}, "appendArray": true}}]})
    }

    fn report(&self) -> Value {
        json!({"workflowInstanceId": self.workflow, "taskId": self.task["taskId"],
            "status": "IN_PROGRESS", "outputData": {"n": 1}, "reasonForIncompletion": "why",
            "callbackAfterSeconds": 0, "workerId": "w", "fenceToken": self.task["fenceToken"],
            "logs": [{"log": "line", "taskId": self.task["taskId"], "createdTime": 1}],
            "externalOutputPayloadStoragePath": "p", "subWorkflowId": "s", "extendLease": false,
            "supportsCancellation": false})
    }
}
