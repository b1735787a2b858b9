// Package compatibility tells the scenarios with the Go SDK, unmodified.
package compatibility

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"testing"
	"time"

	"github.com/antihax/optional"
	"github.com/conductor-sdk/conductor-go/sdk/client"
	"github.com/conductor-sdk/conductor-go/sdk/model"
	"github.com/conductor-sdk/conductor-go/sdk/settings"
	"github.com/conductor-sdk/conductor-go/sdk/worker"
	"github.com/conductor-sdk/conductor-go/sdk/workflow/executor"
	"github.com/google/uuid"
	log "github.com/sirupsen/logrus"
)

const (
	missing  = "00000000-0000-4000-8000-000000000000"
	deadline = 60 * time.Second
)

var ctx = context.Background()

func TestMain(m *testing.M) {
	log.SetOutput(io.Discard)
	os.Exit(m.Run())
}

// house is one SDK user: each client, made once.
type house struct {
	api         *client.APIClient
	executor    *executor.WorkflowExecutor
	workflows   client.WorkflowClient
	tasks       client.TaskClient
	metadata    client.MetadataClient
	bulk        client.WorkflowBulkClient
	secrets     client.SecretsClient
	environment client.EnvironmentClient
	events      client.EventHandlerClient
}

func open() house {
	return enter(client.NewAPIClient(nil, settings.NewHttpSettings(os.Getenv("SEMEL_URL")+"/api")))
}

func enter(api *client.APIClient) house {
	return house{
		api:         api,
		executor:    executor.NewWorkflowExecutor(api),
		workflows:   client.NewWorkflowClient(api),
		tasks:       client.NewTaskClient(api),
		metadata:    client.NewMetadataClient(api),
		bulk:        client.NewWorkflowBulkClient(api),
		secrets:     client.NewSecretsClient(api),
		environment: client.NewEnvironmentClient(api),
		events:      client.NewEventHandlerClient(api),
	}
}

// fresh is a name that no other test uses.
func fresh(word string) string {
	return word + "_" + uuid.NewString()[:8]
}

func taskDef(name string) model.TaskDef {
	return model.TaskDef{
		Name: name, OwnerEmail: "team@example.com", TimeoutSeconds: 300, ResponseTimeoutSeconds: 60,
		// 0 would be left out by the SDK, and 60 be meant.
		RetryLogic: "FIXED", RetryDelaySeconds: 1, TimeoutPolicy: "TIME_OUT_WF",
	}
}

func step(name, reference string) model.WorkflowTask {
	input := map[string]interface{}{"n": "${workflow.input.n}"}
	return model.WorkflowTask{Name: name, TaskReferenceName: reference, Type_: "SIMPLE", InputParameters: input}
}

func workflowDef(name string, steps ...model.WorkflowTask) model.WorkflowDef {
	return model.WorkflowDef{Name: name, Version: 1, OwnerEmail: "team@example.com", Tasks: steps, Restartable: true}
}

// define registers a workflow of these steps and returns its name.
func (h house) define(t *testing.T, steps ...model.WorkflowTask) string {
	t.Helper()
	definition := workflowDef(fresh("workflow"), steps...)
	_, err := h.metadata.RegisterWorkflowDef(ctx, true, definition)
	must(t, err)
	return definition.Name
}

// defineTask registers a task of a new name and returns the name.
func (h house) defineTask(t *testing.T, word string, change func(*model.TaskDef)) string {
	t.Helper()
	definition := taskDef(fresh(word))
	if change != nil {
		change(&definition)
	}
	_, err := h.metadata.RegisterTaskDef(ctx, []model.TaskDef{definition})
	must(t, err)
	return definition.Name
}

func (h house) start(t *testing.T, name string, n int) string {
	t.Helper()
	run, err := h.executor.StartWorkflow(request(name, n))
	must(t, err)
	return run
}

func request(name string, n int) *model.StartWorkflowRequest {
	return model.NewStartWorkflowRequest(name, 1, "", map[string]interface{}{"n": n})
}

func (h house) run(t *testing.T, id string) *model.Workflow {
	t.Helper()
	seen, err := h.executor.GetWorkflow(id, true)
	must(t, err)
	return seen
}

func (h house) ended(t *testing.T, id string) *model.Workflow {
	t.Helper()
	var seen *model.Workflow
	eventually(t, "the end of "+id, func() bool {
		seen = h.run(t, id)
		return seen.Status != model.RunningWorkflow && seen.Status != model.PausedWorkflow
	})
	return seen
}

// reached is the last attempt at this step, once it has this status.
func (h house) reached(t *testing.T, id, reference, status string) model.Task {
	t.Helper()
	var last model.Task
	eventually(t, fmt.Sprintf("%s of %s to be %s", reference, id, status), func() bool {
		for _, task := range h.run(t, id).Tasks {
			if task.ReferenceTaskName == reference {
				last = task
			}
		}
		return string(last.Status) == status
	})
	return last
}

func (h house) answer(t *testing.T, id, reference string, status model.TaskResultStatus) {
	t.Helper()
	h.reached(t, id, reference, "SCHEDULED")
	must(t, h.executor.UpdateTaskByRefName(reference, id, status, map[string]interface{}{"by": "hand"}))
}

// poll is the next task of this type, taken as the SDK's reports say who they are from.
func (h house) poll(t *testing.T, kind string) model.Task {
	t.Helper()
	host, err := os.Hostname()
	must(t, err)
	var task model.Task
	eventually(t, "a task of type "+kind, func() bool {
		options := &client.TaskResourceApiPollOpts{Workerid: optional.NewString(host)}
		polled, _, err := h.tasks.Poll(ctx, kind, options)
		must(t, err)
		task = polled
		return task.TaskId != ""
	})
	return task
}

// working runs the SDK's own runner for this type until the test is over.
func (h house) working(t *testing.T, kind string, threads int, work model.ExecuteTaskFunction) {
	t.Helper()
	runner := worker.NewTaskRunnerWithApiClient(h.api)
	must(t, runner.StartWorker(kind, work, threads, 20*time.Millisecond))
	t.Cleanup(func() { runner.Shutdown(kind) })
}

func eventually(t *testing.T, what string, look func() bool) {
	t.Helper()
	for begun := time.Now(); !look(); time.Sleep(50 * time.Millisecond) {
		if time.Since(begun) > deadline {
			t.Fatalf("waited too long for %s", what)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func equal[T comparable](t *testing.T, wanted, seen T) {
	t.Helper()
	if wanted != seen {
		t.Fatalf("wanted %v, saw %v", wanted, seen)
	}
}

// refused wants an error of this status.
func refused(t *testing.T, status int, err error) {
	t.Helper()
	var refusal client.GenericSwaggerError
	if !errors.As(err, &refusal) {
		t.Fatalf("wanted a refusal with %d, saw %v", status, err)
	}
	if refusal.StatusCode() != status {
		t.Fatalf("wanted a refusal with %d, saw %v", status, refusal)
	}
}
