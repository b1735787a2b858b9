package compatibility

import (
	"errors"
	"fmt"
	"testing"

	"github.com/conductor-sdk/conductor-go/sdk/model"
)

const runs = 50

// Scenarios 3, 5, 6 and 13: the SDK's own runner does the work. It has no async workers, as its workers
// are goroutines already, and it does not extend leases.
func TestWorkers(t *testing.T) {
	h := open()
	t.Run("03 goroutines complete fifty runs", func(t *testing.T) {
		task := h.defineTask(t, "add", nil)
		name := h.threeSteps(t, task)
		h.working(t, task, 4, add)
		started := make([]string, runs)
		for n := range started {
			started[n] = h.start(t, name, n)
		}
		for n, run := range started {
			end := h.ended(t, run)
			equal(t, model.CompletedWorkflow, end.Status)
			equal(t, float64(n+3), end.Output["n"].(float64))
			equal(t, 3, len(end.Tasks))
		}
	})
	t.Run("05 a failing worker is retried until it succeeds", func(t *testing.T) {
		task := h.defineTask(t, "flaky", func(d *model.TaskDef) { d.RetryCount = 3 })
		name := h.define(t, step(task, "only"))
		h.working(t, task, 1, func(polled *model.Task) (interface{}, error) {
			if polled.RetryCount < 2 {
				return nil, fmt.Errorf("attempt %d failed", polled.RetryCount)
			}
			return map[string]interface{}{"attempt": polled.RetryCount}, nil
		})
		end := h.ended(t, h.start(t, name, 9))
		equal(t, model.CompletedWorkflow, end.Status)
		equal(t, "[FAILED FAILED COMPLETED]", fmt.Sprint(statuses(end)))
		equal(t, "attempt 0 failed", end.Tasks[0].ReasonForIncompletion)
	})
	t.Run("05 a terminal error ends the run", func(t *testing.T) {
		task := h.defineTask(t, "hopeless", func(d *model.TaskDef) { d.RetryCount = 3 })
		name := h.define(t, step(task, "only"))
		h.working(t, task, 1, func(*model.Task) (interface{}, error) {
			return nil, model.NewNonRetryableError(errors.New("can never work"))
		})
		end := h.ended(t, h.start(t, name, 4))
		equal(t, model.FailedWorkflow, end.Status)
		equal(t, "[FAILED_WITH_TERMINAL_ERROR]", fmt.Sprint(statuses(end)))
	})
	t.Run("06 a silent task loses its lease", func(t *testing.T) {
		task := h.defineTask(t, "silent", func(d *model.TaskDef) { d.RetryCount, d.ResponseTimeoutSeconds = 1, 1 })
		run := h.start(t, h.define(t, step(task, "only")), 1)
		first, second := h.poll(t, task), h.poll(t, task)
		equal(t, false, first.TaskId == second.TaskId)
		equal(t, "[TIMED_OUT IN_PROGRESS]", fmt.Sprint(statuses(h.run(t, run))))
	})
	t.Run("06 a worker asks to be called back", func(t *testing.T) {
		task := h.defineTask(t, "patient", nil)
		name := h.define(t, step(task, "only"))
		h.working(t, task, 1, func(polled *model.Task) (interface{}, error) {
			result := model.NewTaskResultFromTask(polled)
			result.Status = model.CompletedTask
			if polled.PollCount < 3 {
				result.Status, result.CallbackAfterSeconds = model.InProgressTask, 1
			}
			result.OutputData = map[string]interface{}{"polls": polled.PollCount}
			return result, nil
		})
		end := h.ended(t, h.start(t, name, 1))
		equal(t, 3.0, end.Tasks[0].OutputData["polls"].(float64))
	})
	t.Run("13 a child runs inside its parent", func(t *testing.T) {
		task := h.defineTask(t, "add", nil)
		parent := workflowDef(fresh("parent"), inside(h.threeSteps(t, task)))
		parent.OutputParameters = map[string]interface{}{"n": "${child.output.n}"}
		_, err := h.metadata.RegisterWorkflowDef(ctx, true, parent)
		must(t, err)
		h.working(t, task, 2, add)
		end := h.ended(t, h.start(t, parent.Name, 10))
		equal(t, model.CompletedWorkflow, end.Status)
		equal(t, 13.0, end.Output["n"].(float64))
		equal(t, end.WorkflowId, h.run(t, end.Tasks[0].SubWorkflowId).ParentWorkflowId)
	})
	t.Run("13 a failed child is retried from its parent", func(t *testing.T) {
		task := h.defineTask(t, "below", nil)
		run := h.start(t, h.define(t, inside(h.define(t, step(task, "work")))), 1)
		var below string
		eventually(t, "the child", func() bool {
			below = h.run(t, run).Tasks[0].SubWorkflowId
			return below != ""
		})
		h.answer(t, below, "work", model.FailedTask)
		equal(t, model.FailedWorkflow, h.ended(t, run).Status)
		must(t, h.executor.Retry(run, true))
		h.answer(t, below, "work", model.CompletedTask)
		equal(t, model.CompletedWorkflow, h.ended(t, run).Status)
	})
}

func add(polled *model.Task) (interface{}, error) {
	return map[string]interface{}{"n": polled.InputData["n"].(float64) + 1}, nil
}

// threeSteps is a workflow that adds one three times.
func (h house) threeSteps(t *testing.T, task string) string {
	t.Helper()
	steps := []model.WorkflowTask{step(task, "first"), step(task, "second"), step(task, "third")}
	steps[1].InputParameters = map[string]interface{}{"n": "${first.output.n}"}
	steps[2].InputParameters = map[string]interface{}{"n": "${second.output.n}"}
	definition := workflowDef(fresh("workflow"), steps...)
	definition.OutputParameters = map[string]interface{}{"n": "${third.output.n}"}
	_, err := h.metadata.RegisterWorkflowDef(ctx, true, definition)
	must(t, err)
	return definition.Name
}

func inside(child string) model.WorkflowTask {
	below := step(child, "child")
	below.Type_ = "SUB_WORKFLOW"
	below.SubWorkflowParam = &model.SubWorkflowParams{Name: child, Version: 1}
	return below
}

func statuses(run *model.Workflow) []model.TaskResultStatus {
	seen := make([]model.TaskResultStatus, len(run.Tasks))
	for at, task := range run.Tasks {
		seen[at] = task.Status
	}
	return seen
}
