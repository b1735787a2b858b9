package compatibility

import (
	"testing"

	"github.com/antihax/optional"
	"github.com/conductor-sdk/conductor-go/sdk/client"
	"github.com/conductor-sdk/conductor-go/sdk/model"
)

// Scenarios 8, 10 and 11: waiting for a run, finding runs and tasks, their logs and queues. This release
// of the SDK has no signals (scenario 9).
func TestLooking(t *testing.T) {
	h := open()
	t.Run("08 execute gives the output", func(t *testing.T) {
		task := h.defineTask(t, "add", nil)
		name := h.threeSteps(t, task)
		h.working(t, task, 2, add)
		run, err := h.executor.ExecuteWorkflow(request(name, 4), "")
		must(t, err)
		equal(t, "COMPLETED", run.Status)
		equal(t, 7.0, run.Output["n"].(float64))
		// Version 0 is the latest.
		latest, _, err := h.workflows.ExecuteWorkflow(ctx, *request(name, 5), fresh("request"), name, 0, "")
		must(t, err)
		equal(t, 8.0, latest.Output["n"].(float64))
	})
	t.Run("08 execute waits until a step is over", func(t *testing.T) {
		task := h.defineTask(t, "add", nil)
		name := h.define(t, step(task, "first"), step(fresh("nobody"), "second"))
		h.working(t, task, 1, add)
		run, err := h.executor.ExecuteWorkflow(request(name, 4), "first")
		must(t, err)
		equal(t, "RUNNING", run.Status)
		equal(t, model.CompletedTask, run.Tasks[0].Status)
	})
	t.Run("10 runs are found", func(t *testing.T) {
		name := h.define(t, step(fresh("nobody"), "only"))
		first, second := h.start(t, name, 1), h.start(t, name, 2)
		must(t, h.executor.Terminate(first, "over"))
		found := func(query, text string, count int) []model.WorkflowSummary {
			var results []model.WorkflowSummary
			eventually(t, query, func() bool {
				seen, err := h.executor.Search(0, 10, query, text)
				must(t, err)
				results = seen
				return len(seen) == count
			})
			return results
		}
		found("workflowType = '"+name+"'", "*", 2)
		equal(t, second, found("workflowType = '"+name+"' AND status = 'RUNNING'", "*", 1)[0].WorkflowId)
		equal(t, "TERMINATED", found("workflowId = '"+first+"'", "*", 1)[0].Status)
		found("", name, 2)
		_, err := h.executor.Search(0, 10, "status ~ 'x'", "*")
		refused(t, 400, err)
		whole, _, err := h.workflows.SearchWorkflowsByTasks(ctx, &client.WorkflowResourceApiSearchWorkflowsByTasksOpts{
			Query: optional.NewString("workflowType = '" + name + "'"),
		})
		must(t, err)
		equal(t, 2, len(whole.Results))
	})
	t.Run("10 tasks are found", func(t *testing.T) {
		task := fresh("sought")
		run := h.start(t, h.define(t, step(task, "only")), 1)
		query := optional.NewString("taskDefName = '" + task + "'")
		eventually(t, "the task", func() bool {
			seen, _, err := h.tasks.Search(ctx, &client.TaskResourceApiSearch1Opts{Query: query})
			must(t, err)
			return len(seen.Results) == 1 && seen.Results[0].WorkflowId == run
		})
		whole, _, err := h.tasks.SearchV2(ctx, &client.TaskResourceApiSearchV21Opts{Query: query})
		must(t, err)
		equal(t, "only", whole.Results[0].ReferenceTaskName)
	})
	t.Run("10 runs are found by correlation", func(t *testing.T) {
		name, correlation := h.define(t, step(fresh("nobody"), "only")), fresh("c")
		run, err := h.executor.StartWorkflow(model.NewStartWorkflowRequest(name, 1, correlation, nil))
		must(t, err)
		eventually(t, "the run", func() bool {
			seen, err := h.executor.GetByCorrelationIdsAndNames(true, true, []string{correlation}, []string{name})
			must(t, err)
			return len(seen[correlation]) == 1 && seen[correlation][0].WorkflowId == run
		})
		named, err := h.executor.GetByCorrelationIds(name, true, true, correlation)
		must(t, err)
		equal(t, run, named[correlation][0].WorkflowId)
		listed, _, err := h.workflows.GetWorkflowsByCorrelationId(ctx, name, correlation, nil)
		must(t, err)
		equal(t, run, listed[0].WorkflowId)
		running, _, err := h.workflows.GetRunningWorkflow(ctx, name, nil)
		must(t, err)
		equal(t, run, running[0])
	})
	t.Run("11 logs and tasks are read", func(t *testing.T) {
		task := fresh("logged")
		run := h.start(t, h.define(t, step(task, "only")), 1)
		id := h.poll(t, task).TaskId
		none, _, err := h.tasks.GetTaskLogs(ctx, id)
		must(t, err)
		equal(t, 0, len(none))
		_, err = h.tasks.Log(ctx, "say \"hi\"", id)
		must(t, err)
		logs, _, err := h.tasks.GetTaskLogs(ctx, id)
		must(t, err)
		equal(t, "say \"hi\"", logs[0].Log)
		seen, err := h.executor.GetTask(id)
		must(t, err)
		equal(t, run, seen.WorkflowInstanceId)
		equal(t, model.InProgressTask, seen.Status)
		_, _, err = h.tasks.GetTask(ctx, missing)
		refused(t, 404, err)
	})
	t.Run("11 a result is reported once", func(t *testing.T) {
		task := fresh("once")
		run := h.start(t, h.define(t, step(task, "only")), 1)
		id := h.poll(t, task).TaskId
		for _, n := range []int{1, 2} {
			must(t, h.executor.UpdateTask(id, run, model.CompletedTask, map[string]interface{}{"n": n}))
		}
		equal(t, 1.0, h.ended(t, run).Tasks[0].OutputData["n"].(float64))
	})
	t.Run("11 queues and polls are counted", func(t *testing.T) {
		task := fresh("queued")
		name := h.define(t, step(task, "only"))
		for n := 0; n < 3; n++ {
			h.start(t, name, n)
		}
		sizes, _, err := h.tasks.Size(ctx, &client.TaskResourceApiSizeOpts{TaskType: optional.NewInterface([]string{task})})
		must(t, err)
		equal(t, 3, sizes[task])
		batch, _, err := h.tasks.BatchPoll(ctx, task, &client.TaskResourceApiBatchPollOpts{
			Workerid: optional.NewString("hand"), Count: optional.NewInt32(2),
		})
		must(t, err)
		equal(t, 2, len(batch))
		all, _, err := h.tasks.All(ctx)
		must(t, err)
		equal(t, 1, all[task])
		_, _, err = h.tasks.AllVerbose(ctx)
		must(t, err)
		polls, _, err := h.tasks.GetPollData(ctx, task)
		must(t, err)
		equal(t, "hand", polls[0].WorkerId)
		everyone, _, err := h.tasks.GetAllPollData(ctx)
		must(t, err)
		equal(t, true, len(everyone) > 0)
		_, _, err = h.tasks.RequeuePendingTask(ctx, task)
		must(t, err)
	})
}
