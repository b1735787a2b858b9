package compatibility

import (
	"fmt"
	"testing"

	"github.com/conductor-sdk/conductor-go/sdk/model"
)

// Scenario 7: what an operator does to a run. This release of the SDK has no client for jumps.
func TestOperations(t *testing.T) {
	h := open()
	twoSteps := func(t *testing.T) (name, run string) {
		task := h.defineTask(t, "task", nil)
		name = h.define(t, step(task, "first"), step(task, "second"))
		return name, h.start(t, name, 1)
	}
	t.Run("07 pause and resume", func(t *testing.T) {
		_, run := twoSteps(t)
		must(t, h.executor.Pause(run))
		must(t, h.executor.Pause(run))
		equal(t, model.PausedWorkflow, h.run(t, run).Status)
		must(t, h.executor.Resume(run))
		equal(t, model.RunningWorkflow, h.run(t, run).Status)
		refused(t, 409, h.executor.Resume(run))
	})
	t.Run("07 terminate", func(t *testing.T) {
		_, run := twoSteps(t)
		must(t, h.executor.TerminateWithFailure(run, "not needed", true))
		seen := h.run(t, run)
		equal(t, model.TerminatedWorkflow, seen.Status)
		equal(t, "not needed", seen.ReasonForIncompletion)
	})
	t.Run("07 retry", func(t *testing.T) {
		_, run := twoSteps(t)
		h.answer(t, run, "first", model.FailedTask)
		equal(t, model.FailedWorkflow, h.ended(t, run).Status)
		must(t, h.executor.Retry(run, false))
		h.answer(t, run, "first", model.CompletedTask)
		h.answer(t, run, "second", model.CompletedTask)
		equal(t, "[FAILED COMPLETED COMPLETED]", fmt.Sprint(statuses(h.ended(t, run))))
		refused(t, 409, h.executor.Retry(run, false))
	})
	t.Run("07 restart", func(t *testing.T) {
		name, run := twoSteps(t)
		must(t, h.executor.Terminate(run, "again"))
		_, err := h.metadata.RegisterWorkflowDef(ctx, true, workflowDef(name, step("other", "other")))
		must(t, err)
		must(t, h.executor.Restart(run, true))
		seen := h.run(t, run)
		equal(t, model.RunningWorkflow, seen.Status)
		equal(t, "other", seen.Tasks[0].ReferenceTaskName)
	})
	t.Run("07 rerun", func(t *testing.T) {
		_, run := twoSteps(t)
		h.answer(t, run, "first", model.CompletedTask)
		h.answer(t, run, "second", model.CompletedTask)
		again := model.RerunWorkflowRequest{
			ReRunFromTaskId: h.ended(t, run).Tasks[1].TaskId,
			TaskInput:       map[string]interface{}{"n": 5},
		}
		id, err := h.executor.ReRun(run, again)
		must(t, err)
		equal(t, run, id)
		equal(t, 5.0, h.reached(t, run, "second", "SCHEDULED").InputData["n"].(float64))
	})
	t.Run("07 skip", func(t *testing.T) {
		_, run := twoSteps(t)
		must(t, h.executor.SkipTasksFromWorkflow(run, "second", model.SkipTaskRequest{}))
		h.answer(t, run, "first", model.CompletedTask)
		equal(t, model.CompletedWorkflow, h.ended(t, run).Status)
		h.reached(t, run, "second", "SKIPPED")
	})
	t.Run("07 callbacks, evaluation and removal", func(t *testing.T) {
		_, run := twoSteps(t)
		_, err := h.workflows.ResetWorkflow(ctx, run)
		must(t, err)
		_, err = h.workflows.Decide(ctx, run)
		must(t, err)
		must(t, h.executor.Terminate(run, "over"))
		must(t, h.executor.RemoveWorkflow(run))
		_, _, err = h.workflows.GetExecutionStatus(ctx, run, nil)
		refused(t, 404, err)
	})
	t.Run("07 many at once", func(t *testing.T) {
		name, run := twoSteps(t)
		other := h.start(t, name, 2)
		paused, _, err := h.bulk.PauseWorkflow1(ctx, []string{run, other, missing})
		must(t, err)
		equal(t, 2, len(paused.BulkSuccessfulResults))
		equal(t, 1, len(paused.BulkErrorResults))
		_, _, err = h.bulk.ResumeWorkflow(ctx, []string{run, other})
		must(t, err)
		_, _, err = h.bulk.Terminate(ctx, []string{run, other}, nil)
		must(t, err)
		_, _, err = h.bulk.Retry1(ctx, []string{run})
		must(t, err)
		_, _, err = h.bulk.Restart(ctx, []string{other}, nil)
		must(t, err)
		equal(t, model.RunningWorkflow, h.run(t, run).Status)
		equal(t, model.RunningWorkflow, h.run(t, other).Status)
	})
}
