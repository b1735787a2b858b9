package compatibility

import (
	"strings"
	"testing"

	"github.com/antihax/optional"
	"github.com/conductor-sdk/conductor-go/sdk/client"
	"github.com/conductor-sdk/conductor-go/sdk/model"
)

// Scenarios 1 and 2: definitions are registered, runs are started.
func TestDefinitions(t *testing.T) {
	h := open()
	t.Run("01 task definitions are registered and updated", func(t *testing.T) {
		name := h.defineTask(t, "task", func(d *model.TaskDef) { d.RetryCount, d.RetryLogic = 2, "LINEAR_BACKOFF" })
		read, _, err := h.metadata.GetTaskDef(ctx, name)
		must(t, err)
		equal(t, "LINEAR_BACKOFF", read.RetryLogic)
		read.RetryCount = 5
		_, err = h.metadata.UpdateTaskDef(ctx, read)
		must(t, err)
		read, _, err = h.metadata.GetTaskDef(ctx, name)
		must(t, err)
		equal(t, 5, read.RetryCount)
		_, _, err = h.metadata.GetTaskDefs(ctx)
		must(t, err)
		_, err = h.metadata.UnregisterTaskDef(ctx, name)
		must(t, err)
		_, _, err = h.metadata.GetTaskDef(ctx, name)
		refused(t, 404, err)
	})
	t.Run("01 workflow definitions are registered and overwritten", func(t *testing.T) {
		name := fresh("workflow")
		_, err := h.metadata.RegisterWorkflowDef(ctx, false, workflowDef(name, step("one", "one")))
		must(t, err)
		_, err = h.metadata.RegisterWorkflowDef(ctx, false, workflowDef(name, step("two", "two")))
		refused(t, 409, err)
		_, err = h.metadata.RegisterWorkflowDef(ctx, true, workflowDef(name, step("two", "two")))
		must(t, err)
		options := &client.MetadataResourceApiGetOpts{Version: optional.NewInt32(1)}
		read, _, err := h.metadata.Get(ctx, name, options)
		must(t, err)
		equal(t, "two", read.Tasks[0].TaskReferenceName)
		_, err = h.metadata.Update(ctx, []model.WorkflowDef{workflowDef(name, step("three", "three"))})
		must(t, err)
		all, _, err := h.metadata.GetAll(ctx)
		must(t, err)
		found := false
		for _, each := range all {
			found = found || each.Name == name && each.Tasks[0].Name == "three"
		}
		equal(t, true, found)
		must(t, h.executor.UnRegisterWorkflow(name, 1))
		_, _, err = h.metadata.Get(ctx, name, options)
		refused(t, 404, err)
	})
	t.Run("01 an invalid definition is told field by field", func(t *testing.T) {
		_, err := h.metadata.RegisterWorkflowDef(ctx, true, workflowDef(fresh("workflow")))
		refused(t, 400, err)
		equal(t, true, strings.Contains(err.Error(), "validationErrors"))
	})
	t.Run("02 a run starts by request and by name", func(t *testing.T) {
		name := h.define(t, step("one", "one"))
		wanted := model.NewStartWorkflowRequest(name, 1, "order-7", map[string]interface{}{"n": 7})
		wanted.Priority = 3
		run, err := h.executor.StartWorkflow(wanted)
		must(t, err)
		equal(t, 36, len(run))
		seen := h.run(t, run)
		equal(t, 7.0, seen.Input["n"].(float64))
		equal(t, "order-7", seen.CorrelationId)
		equal(t, 3, seen.Priority)
		// Without a version the SDK sends none, and the latest is meant.
		other, _, err := h.workflows.StartWorkflow(ctx, map[string]interface{}{"n": 8}, name, nil)
		must(t, err)
		equal(t, 8.0, h.run(t, other).Input["n"].(float64))
		state, err := h.executor.GetWorkflowStatus(other, true, true)
		must(t, err)
		equal(t, string(model.RunningWorkflow), string(state.Status))
	})
	t.Run("02 an unknown workflow is not started", func(t *testing.T) {
		_, err := h.executor.StartWorkflow(request(fresh("nobody"), 1))
		refused(t, 404, err)
	})
	t.Run("02 a definition may come with the start", func(t *testing.T) {
		definition := workflowDef(fresh("inline"), step("one", "one"))
		wanted := request(definition.Name, 1)
		wanted.WorkflowDef = &definition
		run, err := h.executor.StartWorkflow(wanted)
		must(t, err)
		equal(t, "one", h.run(t, run).Tasks[0].ReferenceTaskName)
	})
	t.Run("02 a key starts one run", func(t *testing.T) {
		name, key := h.define(t, step("one", "one")), fresh("key")
		start := func(strategy model.IdempotencyStrategy) (string, error) {
			return h.executor.StartWorkflow(
				model.NewIdempotentStartWorkflowRequest(name, 1, "", key, strategy, map[string]interface{}{}))
		}
		run, err := start(model.FailOnConflict)
		must(t, err)
		_, err = start(model.FailOnConflict)
		refused(t, 409, err)
		_, err = start(model.FailOnRunning)
		refused(t, 409, err)
		again, err := start(model.ReturnExisting)
		must(t, err)
		equal(t, run, again)
		must(t, h.executor.Terminate(run, "over"))
		next, err := start(model.FailOnRunning)
		must(t, err)
		equal(t, false, next == run)
	})
	t.Run("02 a run that is not there is told by its id", func(t *testing.T) {
		_, _, err := h.workflows.GetExecutionStatus(ctx, missing, nil)
		refused(t, 404, err)
		equal(t, true, strings.Contains(err.Error(), "No such workflow found by id: "+missing))
	})
}
