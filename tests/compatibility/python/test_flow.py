"""Scenarios 16 to 21: what runs when, said with the SDK's own builders and done by its own runner."""

from types import SimpleNamespace

import pytest
from conductor.client.http.models.start_workflow_request import StartWorkflowRequest
from conductor.client.worker.worker import Worker
from conductor.client.workflow.conductor_workflow import ConductorWorkflow
from conductor.client.workflow.task.do_while_task import DoWhileTask, LoopTask
from conductor.client.workflow.task.dynamic_fork_task import DynamicForkTask
from conductor.client.workflow.task.dynamic_task import DynamicTask
from conductor.client.workflow.task.fork_task import ForkTask
from conductor.client.workflow.task.inline import InlineTask
from conductor.client.workflow.task.javascript_task import JavascriptTask
from conductor.client.workflow.task.join_task import JoinTask
from conductor.client.workflow.task.json_jq_task import JsonJQTask
from conductor.client.workflow.task.set_variable_task import SetVariableTask
from conductor.client.workflow.task.simple_task import simple_task
from conductor.client.workflow.task.sub_workflow_task import InlineSubWorkflowTask, SubWorkflowTask
from conductor.client.workflow.task.switch_task import SwitchTask
from conductor.client.workflow.task.terminate_task import TerminateTask, WorkflowStatus

import workers
from house import fresh, task_def

N = "${workflow.input.n}"


@pytest.fixture(scope="module")
def types(clients, run_workers):
    """Task types whose workers work while these tests run."""
    types = SimpleNamespace(add=fresh("add"), plan=fresh("plan"))
    for name in (types.add, types.plan):
        clients.metadata.register_task_def(task_def(name))
    with run_workers(
        clients.configuration,
        Worker(types.add, workers.add, poll_interval=20, thread_count=4),
        Worker(types.plan, workers.plan, poll_interval=20),
    ):
        yield types


@pytest.fixture
def flow(clients):
    return a_flow(clients)


def a_flow(clients):
    return ConductorWorkflow(executor=clients.executor, name=fresh("flow"), version=1)


def begun(clients, flow, **given):
    flow.register(overwrite=True)
    return clients.workflows.start_workflow(StartWorkflowRequest(name=flow.name, version=1, input=given))


def played(clients, flow, **given):
    return clients.ended(begun(clients, flow, **given))


def references(end):
    return [task.reference_task_name for task in end.tasks]


def task_of(end, reference):
    return next(task for task in end.tasks if task.reference_task_name == reference)


def output_of(end, reference):
    return task_of(end, reference).output_data


def test_16_a_join_gathers_its_branches(clients, types, flow):
    left = simple_task(types.add, "left", {"n": N})
    left_again = simple_task(types.add, "left_again", {"n": left.output("n")})
    right = simple_task(types.add, "right", {"n": 10})
    fork = ForkTask("fork", [[left, left_again], [right]], join_on=["left_again", "right"])
    after = simple_task(types.add, "after", {"n": "${fork_join.output.left_again.n}"})
    flow.add([fork, after]).output_parameters({"n": after.output("n"), "right": "${fork_join.output.right.n}"})
    end = played(clients, flow, n=1)
    assert (end.status, end.output) == ("COMPLETED", {"n": 4, "right": 11})
    assert references(end) == ["fork", "left", "right", "fork_join", "left_again", "after"]
    assert [(task.task_type, task.status) for task in end.tasks if task.reference_task_name.startswith("fork")] == [
        ("FORK", "COMPLETED"), ("JOIN", "COMPLETED")
    ]
    assert output_of(end, "fork_join") == {"left_again": {"n": 3}, "right": {"n": 11}}


def test_16_a_list_is_a_fork_and_gets_its_join(clients, types, flow):
    left, right = (simple_task(types.add, side, {"n": N}) for side in ("left", "right"))
    flow >> [left, right] >> simple_task(types.add, "after", {"n": right.output("n")})
    end = played(clients, flow, n=5)
    fork, join = end.tasks[0], end.tasks[3]
    assert (end.status, join.reference_task_name) == ("COMPLETED", f"join_{fork.reference_task_name}")
    assert join.output_data == {"left": {"n": 6}, "right": {"n": 6}}
    assert output_of(end, "after") == {"n": 7}


def test_16_a_join_may_end_by_its_script(clients, types, flow):
    quick, slow = simple_task(types.add, "quick", {"n": N}), simple_task(fresh("nobody"), "slow", {})
    first = "$.joinOn.some(function (r) { return $[r] && $[r].status == 'COMPLETED'; })"
    join = JoinTask("join", join_on=["quick", "slow"], join_on_script=first)
    flow.add([ForkTask("fork", [[quick], [slow]]), join, simple_task(types.add, "after", {"n": "${join.output.quick.n}"})])
    run = begun(clients, flow, n=1)
    assert clients.reached(run, "after", "COMPLETED").output_data == {"n": 3}
    # What nobody waits for any longer still belongs to the run.
    assert clients.workflows.get_workflow(run).status == "RUNNING"
    clients.tasks.update_task_by_ref_name(run, "slow", "COMPLETED", "at last")
    assert clients.ended(run).status == "COMPLETED"


def test_17_a_worker_names_the_branches(clients, types, flow):
    plan = simple_task(types.plan, "plan", {"task": types.add, "numbers": "${workflow.input.numbers}"})
    fan = DynamicForkTask("fan", tasks_param="steps", tasks_input_param_name="inputs", join_task=JoinTask("gather"))
    fan.input_parameters = {"steps": plan.output("steps"), "inputs": plan.output("inputs")}
    flow.add([plan, fan, simple_task(types.add, "after", {"n": "${gather.output.each_7.n}"})])
    end = played(clients, flow, numbers=[3, 7])
    assert end.status == "COMPLETED"
    assert references(end) == ["plan", "fan", "each_3", "each_7", "gather", "after"]
    assert output_of(end, "gather") == {"each_3": {"n": 4}, "each_7": {"n": 8}}
    assert output_of(end, "after") == {"n": 9}
    assert references(played(clients, flow, numbers=[])) == ["plan", "fan", "gather", "after"]


def test_17_one_task_for_each_input(clients, types, flow):
    fan = DynamicForkTask("fan", join_task=JoinTask("gather"))
    fan.input_parameters = {"forkTaskName": types.add, "forkTaskInputs": "${workflow.input.numbers}"}
    flow >> fan
    end = played(clients, flow, numbers=[{"n": 3}, {"n": 7}])
    first, second = f"_{types.add}_0", f"_{types.add}_1"
    assert (end.status, references(end)) == ("COMPLETED", ["fan", first, second, "gather"])
    assert end.tasks[2].input_data == {"n": 7, "__index": 1}
    assert output_of(end, "gather") == {first: {"n": 4}, second: {"n": 8}}


def test_17_the_data_name_a_task(clients, types, flow):
    flow >> DynamicTask("${workflow.input.which}", "chosen").input_parameter("n", N)
    end = played(clients, flow, which=types.add, n=1)
    assert (end.status, end.tasks[0].task_type, output_of(end, "chosen")) == ("COMPLETED", types.add, {"n": 2})


def test_18_a_value_chooses_the_case(clients, types, flow):
    gold, silver, any_other = (simple_task(types.add, name, {"n": N}) for name in ("gold", "silver", "any_other"))
    route = SwitchTask("route", "${workflow.input.tier}").switch_case("gold", [gold, silver]).default_case([any_other])
    flow >> route >> simple_task(types.add, "after", {"n": N})
    taken = played(clients, flow, tier="gold", n=1)
    assert (taken.status, references(taken)) == ("COMPLETED", ["route", "gold", "silver", "after"])
    assert output_of(taken, "route") == {"evaluationResult": ["gold"], "selectedCase": "gold"}
    default = played(clients, flow, tier="tin", n=1)
    assert (default.status, references(default)) == ("COMPLETED", ["route", "any_other", "after"])
    assert output_of(default, "route")["selectedCase"] == "tin"


def test_18_a_program_chooses_the_case(clients, types, flow):
    many, few = (simple_task(types.add, name, {"n": N}) for name in ("many", "few"))
    route = SwitchTask("route", "$.n > 10 ? 'many' : $.n", use_javascript=True).input_parameter("n", N)
    flow >> route.switch_case("many", many).default_case(few)
    taken, default = played(clients, flow, n=11), played(clients, flow, n=3)
    assert [taken.status, *references(taken)] == ["COMPLETED", "route", "many"]
    assert [default.status, *references(default)] == ["COMPLETED", "route", "few"]
    assert output_of(default, "route")["evaluationResult"] == ["3"]


def test_19_a_loop_goes_on_while_its_condition_holds(clients, types, flow):
    step = simple_task(types.add, "step", {"n": "${loop.output.iteration}"})
    loop = DoWhileTask("loop", "$.loop.iteration < $.most && $.step.n < 4", [step])
    loop.input_parameter("most", "${workflow.input.most}")
    flow >> loop >> simple_task(types.add, "after", {"n": step.output("n")})
    end = played(clients, flow, most=10)
    assert (end.status, references(end)) == ("COMPLETED", ["loop", "step__1", "step__2", "step__3", "after"])
    assert [task.iteration for task in end.tasks[1:4]] == [1, 2, 3]
    assert output_of(end, "loop") == {
        "iteration": 3, "1": {"step": {"n": 2}}, "2": {"step": {"n": 3}}, "3": {"step": {"n": 4}}
    }
    assert output_of(end, "after") == {"n": 5}
    assert references(played(clients, flow, most=1)) == ["loop", "step__1", "after"]


def test_19_a_loop_is_counted(clients, types, flow):
    body = [simple_task(types.add, "first", {"n": N}), simple_task(types.add, "second", {"n": "${first.output.n}"})]
    flow >> LoopTask("loop", 2, body)
    end = played(clients, flow, n=1)
    assert (end.status, references(end)) == ("COMPLETED", ["loop", "first__1", "second__1", "first__2", "second__2"])
    assert output_of(end, "loop")["2"] == {"first": {"n": 2}, "second": {"n": 3}}


def test_19_a_loop_goes_over_a_list(clients, types, flow):
    # The SDK has no field for a list; as a parameter it is known by `_items`.
    loop = DoWhileTask("loop", "", [simple_task(types.add, "step", {"n": "${loop.output.loopItem}"})])
    flow >> loop.input_parameter("_items", "${workflow.input.numbers}")
    end = played(clients, flow, numbers=[5, 8])
    assert (end.status, references(end)) == ("COMPLETED", ["loop", "step__1", "step__2"])
    assert output_of(end, "loop") == {
        "iteration": 2, "loopIndex": 1, "loopItem": 8, "1": {"step": {"n": 6}}, "2": {"step": {"n": 9}}
    }


def test_20_a_child_runs_in_a_branch(clients, types, flow):
    child = a_flow(clients)
    child >> simple_task(types.add, "inside", {"n": N})
    child.output_parameters({"n": "${inside.output.n}"}).register(overwrite=True)
    below = SubWorkflowTask("below", child.name, 1).input_parameter("n", N)
    beside = simple_task(types.add, "beside", {"n": N})
    flow.add([ForkTask("fork", [[below], [beside]]), JoinTask("join", join_on=["below", "beside"])])
    end = played(clients, flow, n=20)
    assert (end.status, references(end)) == ("COMPLETED", ["fork", "below", "beside", "join"])
    run = task_of(end, "below").sub_workflow_id
    assert output_of(end, "join") == {"below": {"n": 21, "subWorkflowId": run}, "beside": {"n": 21}}
    seen = clients.workflows.get_workflow(run)
    assert (seen.status, seen.parent_workflow_id, references(seen)) == ("COMPLETED", end.workflow_id, ["inside"])


def test_20_a_child_brings_its_definition(clients, types, flow):
    child = a_flow(clients)
    child >> simple_task(types.add, "inside", {"n": N})
    child.output_parameters({"n": "${inside.output.n}"})
    below = InlineSubWorkflowTask("below", child).input_parameter("n", N)
    flow >> below >> simple_task(types.add, "after", {"n": below.output("n")})
    end = played(clients, flow, n=20)
    assert (end.status, references(end)) == ("COMPLETED", ["below", "after"])
    assert output_of(end, "after") == {"n": 22}
    seen = clients.workflows.get_workflow(task_of(end, "below").sub_workflow_id)
    assert (seen.status, seen.workflow_name, references(seen)) == ("COMPLETED", child.name, ["inside"])
    assert (seen.parent_workflow_id, seen.input["n"]) == (end.workflow_id, 20)


def test_20_a_flow_is_a_step_of_another(clients, types, flow):
    child = a_flow(clients)
    child >> simple_task(types.add, "inside", {"n": N})
    # What the SDK takes for the input of a flow is what its step hands on.
    flow >> child.workflow_input({"n": N})
    end = played(clients, flow, n=20)
    assert (end.status, [task.task_type for task in end.tasks]) == ("COMPLETED", ["SUB_WORKFLOW"])
    assert end.tasks[0].reference_task_name.startswith(child.name)
    seen = clients.workflows.get_workflow(end.tasks[0].sub_workflow_id)
    assert (seen.status, seen.workflow_name, output_of(seen, "inside")) == ("COMPLETED", child.name, {"n": 21})


def test_21_programs_calculate(clients, flow):
    double = JavascriptTask("double", "(function () { return {n: $.n * 2}; })()", {"n": N})
    triple = InlineTask("triple", "$.n * 3", {"n": double.output("n")})
    sort = JsonJQTask("sort", ".numbers | sort | .[]").input_parameter("numbers", [3, triple.output("result"), 1])
    note = SetVariableTask("note").input_parameter("least", sort.output("result"))
    flow >> double >> triple >> sort >> note
    flow.output_parameters({"triple": triple.output("result"), "least": "${workflow.variables.least}"})
    flow.register(overwrite=True)
    end = flow.execute(workflow_input={"n": 2}, wait_for_seconds=20)
    assert (end.status, end.output) == ("COMPLETED", {"triple": 12, "least": 1})
    assert [task.reference_task_name for task in end.tasks] == ["double", "triple", "sort", "note"]
    seen = clients.workflows.get_workflow(end.workflow_id)
    assert output_of(seen, "double") == {"result": {"n": 4}}
    assert output_of(seen, "sort") == {"result": 1, "resultList": [1, 3, 12]}
    assert seen.variables == {"least": 1}


def test_21_a_program_that_throws_fails_the_run(clients, flow):
    flow >> InlineTask("broken", "$.nobody.knows")
    end = played(clients, flow)
    assert (end.status, end.tasks[0].status) == ("FAILED", "FAILED_WITH_TERMINAL_ERROR")
    assert "undefined" in end.tasks[0].reason_for_incompletion
    assert output_of(end, "broken") == {"error": end.tasks[0].reason_for_incompletion}


def test_21_a_run_ends_early(clients, types, flow):
    enough = TerminateTask("enough", WorkflowStatus.FAILED, "there is too much").input_parameter("workflowOutput", {"n": N})
    route = SwitchTask("route", "$.n > 10", use_javascript=True).input_parameter("n", N).switch_case("true", enough)
    flow >> route >> simple_task(types.add, "after", {"n": N})
    end = played(clients, flow, n=11)
    assert (end.status, end.reason_for_incompletion, end.output) == ("FAILED", "there is too much", {"n": 11})
    assert references(end) == ["route", "enough"]
    assert references(played(clients, flow, n=1)) == ["route", "after"]
