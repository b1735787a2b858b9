package compatibility

import (
	"fmt"
	"strings"
	"testing"

	"github.com/conductor-sdk/conductor-go/sdk/model"
	"github.com/conductor-sdk/conductor-go/sdk/workflow"
)

const input = "${workflow.input.n}"

type values = map[string]interface{}

// Scenarios 16 to 21: what runs when, said with the SDK's own builders and done by its own runner.
func TestFlow(t *testing.T) {
	h := open()
	add1, plan := h.defineTask(t, "add", nil), h.defineTask(t, "plan", nil)
	h.working(t, add1, 4, add)
	h.working(t, plan, 1, func(polled *model.Task) (interface{}, error) {
		return branches(add1, polled.InputData["numbers"].([]interface{})), nil
	})
	adding := func(reference string, n interface{}) *workflow.SimpleTask {
		return workflow.NewSimpleTask(add1, reference).Input("n", n)
	}
	t.Run("16 a join gathers its branches", func(t *testing.T) {
		left := adding("left", input)
		again := adding("left_again", left.OutputRef("n"))
		join := workflow.NewJoinTask("join", "left_again", "right")
		after := adding("after", join.OutputRef("left_again.n"))
		fork := workflow.NewForkTaskWithJoin("fork", join, tasks(left, again), tasks(adding("right", 10)))
		flow := h.flow(fork, after).OutputParameters(values{"n": after.OutputRef("n"), "right": join.OutputRef("right.n")})
		end := h.played(t, flow, values{"n": 1})
		went(t, end, model.CompletedWorkflow, "fork left right join left_again after")
		equal(t, "map[n:4 right:11]", fmt.Sprint(end.Output))
		equal(t, "FORK JOIN", end.Tasks[0].TaskType+" "+end.Tasks[3].TaskType)
		equal(t, "map[left_again:map[n:3] right:map[n:11]]", outputOf(t, end, "join"))
	})
	t.Run("16 a join on nothing waits for nothing", func(t *testing.T) {
		// The SDK makes a join without any reference.
		end := h.played(t, h.flow(workflow.NewForkTask("fork", tasks(adding("left", input)), tasks(adding("right", 10)))), values{"n": 1})
		went(t, end, model.CompletedWorkflow, "fork left right fork_join")
		equal(t, "map[]", outputOf(t, end, "fork_join"))
		equal(t, "map[n:2]", outputOf(t, end, "left"))
	})
	t.Run("17 a worker names the branches", func(t *testing.T) {
		prepare := workflow.NewSimpleTask(plan, "plan").Input("numbers", "${workflow.input.numbers}")
		flow := h.flow(workflow.NewDynamicForkTask("fan", prepare), adding("after", "${fan_join.output.each_7.n}"))
		end := h.played(t, flow, values{"numbers": []int{3, 7}})
		went(t, end, model.CompletedWorkflow, "plan fan each_3 each_7 fan_join after")
		equal(t, "map[each_3:map[n:4] each_7:map[n:8]]", outputOf(t, end, "fan_join"))
		equal(t, "map[n:9]", outputOf(t, end, "after"))
	})
	t.Run("17 one task for each input", func(t *testing.T) {
		fan := workflow.NewDynamicForkTaskWithoutPrepareTask("fan").
			Input("forkTaskName", add1).Input("forkTaskInputs", "${workflow.input.numbers}")
		end := h.played(t, h.flow(fan), values{"numbers": []values{{"n": 3}, {"n": 7}}})
		first, second := "_"+add1+"_0", "_"+add1+"_1"
		went(t, end, model.CompletedWorkflow, "fan "+first+" "+second+" fan_join")
		equal(t, "map[__index:1 n:7]", fmt.Sprint(end.Tasks[2].InputData))
		equal(t, fmt.Sprintf("map[%s:map[n:4] %s:map[n:8]]", first, second), outputOf(t, end, "fan_join"))
	})
	t.Run("17 the data name a task", func(t *testing.T) {
		chosen := workflow.NewDynamicTask("chosen", "${workflow.input.which}").Input("n", input)
		end := h.played(t, h.flow(chosen), values{"which": add1, "n": 1})
		went(t, end, model.CompletedWorkflow, "chosen")
		equal(t, add1, end.Tasks[0].TaskType)
		equal(t, "map[n:2]", outputOf(t, end, "chosen"))
	})
	t.Run("18 a value chooses the case", func(t *testing.T) {
		route := workflow.NewSwitchTask("route", "${workflow.input.tier}").
			SwitchCase("gold", adding("gold", input), adding("silver", input)).
			DefaultCase(adding("any_other", input))
		flow := h.flow(route, adding("after", input))
		taken := h.played(t, flow, values{"tier": "gold", "n": 1})
		went(t, taken, model.CompletedWorkflow, "route gold silver after")
		equal(t, "map[evaluationResult:[gold] selectedCase:gold]", outputOf(t, taken, "route"))
		other := h.played(t, flow, values{"tier": "tin", "n": 1})
		went(t, other, model.CompletedWorkflow, "route any_other after")
		equal(t, "map[evaluationResult:[tin] selectedCase:tin]", outputOf(t, other, "route"))
	})
	t.Run("18 a program chooses the case", func(t *testing.T) {
		route := workflow.NewSwitchTask("route", "$.n > 10 ? 'many' : $.n").UseJavascript(true).Input("n", input).
			SwitchCase("many", adding("many", input)).DefaultCase(adding("few", input))
		flow := h.flow(route)
		went(t, h.played(t, flow, values{"n": 11}), model.CompletedWorkflow, "route many")
		other := h.played(t, flow, values{"n": 3})
		went(t, other, model.CompletedWorkflow, "route few")
		equal(t, "map[evaluationResult:[3] selectedCase:3]", outputOf(t, other, "route"))
	})
	t.Run("19 a loop goes on while its condition holds", func(t *testing.T) {
		step := adding("step", "${loop.output.iteration}")
		loop := workflow.NewDoWhileTask("loop", "$.loop.iteration < $.most && $.step.n < 4", step).
			Input("most", "${workflow.input.most}")
		flow := h.flow(loop, adding("after", step.OutputRef("n")))
		end := h.played(t, flow, values{"most": 10})
		went(t, end, model.CompletedWorkflow, "loop step__1 step__2 step__3 after")
		equal(t, int32(3), end.Tasks[3].Iteration)
		equal(t, "map[1:map[step:map[n:2]] 2:map[step:map[n:3]] 3:map[step:map[n:4]] iteration:3]", outputOf(t, end, "loop"))
		equal(t, "map[n:5]", outputOf(t, end, "after"))
		went(t, h.played(t, flow, values{"most": 1}), model.CompletedWorkflow, "loop step__1 after")
	})
	t.Run("19 a loop is counted", func(t *testing.T) {
		first := adding("first", input)
		second := adding("second", first.OutputRef("n"))
		loop := workflow.NewDoWhileTask("loop", "$.loop['iteration'] < $.times", first, second).Input("times", 2)
		end := h.played(t, h.flow(loop), values{"n": 1})
		went(t, end, model.CompletedWorkflow, "loop first__1 second__1 first__2 second__2")
		turn := "map[first:map[n:2] second:map[n:3]]"
		equal(t, "map[1:"+turn+" 2:"+turn+" iteration:2]", outputOf(t, end, "loop"))
		// The SDK's own counted loop looks for the turn in the count, and never finds it.
		once := h.played(t, h.flow(workflow.NewLoopTask("loop", 2, first, second)), values{"n": 1})
		went(t, once, model.CompletedWorkflow, "loop first__1 second__1")
	})
	t.Run("19 a loop goes over a list", func(t *testing.T) {
		// The SDK has no field for a list; as a parameter it is known by `_items`.
		loop := workflow.NewDoWhileTask("loop", "", adding("step", "${loop.output.loopItem}")).
			Input("_items", "${workflow.input.numbers}")
		end := h.played(t, h.flow(loop), values{"numbers": []int{5, 8}})
		went(t, end, model.CompletedWorkflow, "loop step__1 step__2")
		equal(t, "map[1:map[step:map[n:6]] 2:map[step:map[n:9]] iteration:2 loopIndex:1 loopItem:8]", outputOf(t, end, "loop"))
	})
	t.Run("20 a child runs in a branch", func(t *testing.T) {
		inner := adding("inside", input)
		child := h.flow(inner).OutputParameters(values{"n": inner.OutputRef("n")})
		must(t, child.Register(true))
		below := workflow.NewSubWorkflowTask("below", child.GetName(), 1).Input("n", input)
		join := workflow.NewJoinTask("join", "below", "beside")
		fork := workflow.NewForkTaskWithJoin("fork", join, tasks(below), tasks(adding("beside", input)))
		end := h.played(t, h.flow(fork), values{"n": 20})
		went(t, end, model.CompletedWorkflow, "fork below beside join")
		run := end.Tasks[1].SubWorkflowId
		equal(t, "map[below:map[n:21 subWorkflowId:"+run+"] beside:map[n:21]]", outputOf(t, end, "join"))
		seen := h.run(t, run)
		equal(t, end.WorkflowId, seen.ParentWorkflowId)
		went(t, seen, model.CompletedWorkflow, "inside")
	})
	t.Run("20 a child brings its definition", func(t *testing.T) {
		inner := adding("inside", input)
		child := h.flow(inner).OutputParameters(values{"n": inner.OutputRef("n")})
		below := workflow.NewSubWorkflowInlineTask("below", child).Input("n", input)
		end := h.played(t, h.flow(below, adding("after", "${below.output.n}")), values{"n": 20})
		went(t, end, model.CompletedWorkflow, "below after")
		equal(t, "map[n:22]", outputOf(t, end, "after"))
		seen := h.run(t, end.Tasks[0].SubWorkflowId)
		equal(t, child.GetName()+" "+end.WorkflowId, seen.WorkflowName+" "+seen.ParentWorkflowId)
		equal(t, "20", fmt.Sprint(seen.Input["n"]))
		went(t, seen, model.CompletedWorkflow, "inside")
	})
	t.Run("21 programs calculate", func(t *testing.T) {
		double := workflow.NewInlineTask("double", "(function () { return {n: $.n * 2}; })()").Input("n", input)
		triple := workflow.NewInlineGraalJSTask("triple", "$.n * 3").Input("n", double.OutputRef("result.n"))
		sort := workflow.NewJQTask("sort", ".numbers | sort | .[]").
			Input("numbers", []interface{}{3, triple.OutputRef("result"), 1})
		note := workflow.NewSetVariableTask("note").Input("least", sort.OutputRef("result"))
		flow := h.flow(double, triple, sort, note).
			OutputParameters(values{"triple": triple.OutputRef("result"), "least": "${workflow.variables.least}"})
		run, err := flow.ExecuteWorkflowWithInput(values{"n": 2}, "")
		must(t, err)
		equal(t, "COMPLETED map[least:1 triple:12]", fmt.Sprint(run.Status, " ", run.Output))
		seen := h.run(t, run.WorkflowId)
		went(t, seen, model.CompletedWorkflow, "double triple sort note")
		equal(t, "map[result:map[n:4]]", outputOf(t, seen, "double"))
		equal(t, "map[result:1 resultList:[1 3 12]]", outputOf(t, seen, "sort"))
		equal(t, "map[least:1]", fmt.Sprint(seen.Variables))
	})
	t.Run("21 a program that throws fails the run", func(t *testing.T) {
		end := h.played(t, h.flow(workflow.NewInlineTask("broken", "$.nobody.knows")), values{})
		went(t, end, model.FailedWorkflow, "broken")
		equal(t, model.FailedWithTerminalErrorTask, end.Tasks[0].Status)
		reason := end.Tasks[0].ReasonForIncompletion
		equal(t, true, strings.Contains(reason, "undefined"))
		equal(t, "map[error:"+reason+"]", outputOf(t, end, "broken"))
	})
	t.Run("21 a run ends early", func(t *testing.T) {
		enough := workflow.NewTerminateTask("enough", model.FailedWorkflow, "there is too much").
			Input("workflowOutput", values{"n": input})
		route := workflow.NewSwitchTask("route", "$.n > 10").UseJavascript(true).Input("n", input).SwitchCase("true", enough)
		flow := h.flow(route, adding("after", input))
		end := h.played(t, flow, values{"n": 11})
		went(t, end, model.FailedWorkflow, "route enough")
		equal(t, "there is too much map[n:11]", fmt.Sprint(end.ReasonForIncompletion, " ", end.Output))
		went(t, h.played(t, flow, values{"n": 1}), model.CompletedWorkflow, "route after")
	})
}

// branches is one step for each number, and what each is given, under the names the SDK looks for.
func branches(task string, numbers []interface{}) values {
	steps, inputs := []model.WorkflowTask{}, values{}
	for _, number := range numbers {
		reference := fmt.Sprintf("each_%v", number)
		steps = append(steps, model.WorkflowTask{Name: task, TaskReferenceName: reference, Type_: "SIMPLE"})
		inputs[reference] = values{"n": number}
	}
	return values{"forkedTasks": steps, "forkedTasksInputs": inputs}
}

func tasks(each ...workflow.TaskInterface) []workflow.TaskInterface { return each }

func (h house) flow(each ...workflow.TaskInterface) *workflow.ConductorWorkflow {
	flow := workflow.NewConductorWorkflow(h.executor).Name(fresh("flow")).Version(1)
	for _, task := range each {
		flow.Add(task)
	}
	return flow
}

func (h house) played(t *testing.T, flow *workflow.ConductorWorkflow, given values) *model.Workflow {
	t.Helper()
	must(t, flow.Register(true))
	run, err := h.executor.StartWorkflow(model.NewStartWorkflowRequest(flow.GetName(), 1, "", given))
	must(t, err)
	return h.ended(t, run)
}

// went wants this end, by way of these steps.
func went(t *testing.T, end *model.Workflow, status model.WorkflowStatus, references string) {
	t.Helper()
	seen := make([]string, len(end.Tasks))
	for at, task := range end.Tasks {
		seen[at] = task.ReferenceTaskName
	}
	equal(t, fmt.Sprint(status, " ", references), fmt.Sprint(end.Status, " ", strings.Join(seen, " ")))
}

func outputOf(t *testing.T, end *model.Workflow, reference string) string {
	t.Helper()
	for _, task := range end.Tasks {
		if task.ReferenceTaskName == reference {
			return fmt.Sprint(task.OutputData)
		}
	}
	t.Fatalf("%s never ran", reference)
	return ""
}
