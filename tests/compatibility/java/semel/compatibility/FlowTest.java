package semel.compatibility;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static semel.compatibility.House.fresh;

import com.netflix.conductor.client.worker.Worker;
import com.netflix.conductor.common.metadata.tasks.Task.Status;
import com.netflix.conductor.common.run.Workflow;
import com.netflix.conductor.common.run.Workflow.WorkflowStatus;
import com.netflix.conductor.sdk.workflow.def.ConductorWorkflow;
import com.netflix.conductor.sdk.workflow.def.WorkflowBuilder;
import com.netflix.conductor.sdk.workflow.def.tasks.DoWhile;
import com.netflix.conductor.sdk.workflow.def.tasks.Dynamic;
import com.netflix.conductor.sdk.workflow.def.tasks.DynamicFork;
import com.netflix.conductor.sdk.workflow.def.tasks.DynamicForkInput;
import com.netflix.conductor.sdk.workflow.def.tasks.ForkJoin;
import com.netflix.conductor.sdk.workflow.def.tasks.JQ;
import com.netflix.conductor.sdk.workflow.def.tasks.Javascript;
import com.netflix.conductor.sdk.workflow.def.tasks.SetVariable;
import com.netflix.conductor.sdk.workflow.def.tasks.SimpleTask;
import com.netflix.conductor.sdk.workflow.def.tasks.SubWorkflow;
import com.netflix.conductor.sdk.workflow.def.tasks.Switch;
import com.netflix.conductor.sdk.workflow.def.tasks.Task;
import com.netflix.conductor.sdk.workflow.def.tasks.Terminate;
import com.netflix.conductor.sdk.workflow.executor.WorkflowExecutor;
import com.netflix.conductor.sdk.workflow.executor.task.DynamicForkWorker;
import com.netflix.conductor.sdk.workflow.task.InputParam;
import com.netflix.conductor.sdk.workflow.task.OutputParam;
import com.netflix.conductor.sdk.workflow.task.WorkerTask;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Scenarios 16 to 21: what runs when, said with the SDK's own builders and done by its annotated workers. */
@ExtendWith(OneLine.class)
class FlowTest {
    private static final String N = "${workflow.input.n}";
    private static final House house = new House();
    private static final WorkflowExecutor executor = new WorkflowExecutor(house.client, 20);

    /** Workers that the SDK finds by their annotations. */
    public static final class Workers {
        @WorkerTask(value = "flow_add", threadCount = 4, pollingInterval = 20)
        public @OutputParam("n") int add(@InputParam("n") int n) {
            return n + 1;
        }

        @WorkerTask(value = "flow_plan", pollingInterval = 20)
        public DynamicForkInput plan(@InputParam("numbers") List<Integer> numbers) {
            return oneForEach(numbers);
        }
    }

    /** Makes branches of the SDK's tasks as they are, not of what they would be in a definition. */
    private static final class Planner implements Function<Object, DynamicForkInput> {
        @Override
        public DynamicForkInput apply(@InputParam("numbers") Object numbers) {
            return oneForEach((List<?>) numbers);
        }
    }

    /** One step for each number, and what each is given. */
    private static DynamicForkInput oneForEach(List<?> numbers) {
        List<Task<?>> steps = new ArrayList<>();
        Map<String, Object> inputs = new LinkedHashMap<>();
        for (Object number : numbers) {
            steps.add(new SimpleTask("flow_add", "each_" + number));
            inputs.put("each_" + number, Map.of("n", number));
        }
        return new DynamicForkInput(steps, inputs);
    }

    @BeforeAll
    static void work() {
        house.defineTask("flow_add");
        house.defineTask("flow_plan");
        executor.initWorkersFromInstances(List.of(new Workers()));
    }

    @AfterAll
    static void rest() {
        executor.shutdown();
    }

    private static SimpleTask adding(String reference, String n) {
        return new SimpleTask("flow_add", reference).input("n", n);
    }

    private static SimpleTask adding(String reference) {
        return adding(reference, N);
    }

    private static WorkflowBuilder<Map<String, Object>> flow(Task<?>... tasks) {
        return new WorkflowBuilder<Map<String, Object>>(executor).name(fresh("flow")).version(1).add(tasks);
    }

    private static ConductorWorkflow<Map<String, Object>> registered(WorkflowBuilder<Map<String, Object>> flow) {
        ConductorWorkflow<Map<String, Object>> built = flow.build();
        assertTrue(built.registerWorkflow(true));
        return built;
    }

    private static Workflow played(ConductorWorkflow<Map<String, Object>> flow, Map<String, Object> input) throws Exception {
        return flow.execute(input).get(60, TimeUnit.SECONDS);
    }

    private static Workflow played(WorkflowBuilder<Map<String, Object>> flow, Map<String, Object> input) throws Exception {
        return played(registered(flow), input);
    }

    private static void went(Workflow end, WorkflowStatus status, String... references) {
        assertEquals(
                List.of(references),
                end.getTasks().stream().map(com.netflix.conductor.common.metadata.tasks.Task::getReferenceTaskName).toList(),
                end.getReasonForIncompletion());
        assertEquals(status, end.getStatus());
    }

    private static Map<String, Object> outputOf(Workflow end, String reference) {
        return end.getTaskByRefName(reference).getOutputData();
    }

    @Test
    @DisplayName("16 a join gathers its branches")
    void branches() throws Exception {
        Task<?>[] left = {adding("left"), adding("left_again", "${left.output.n}")};
        Task<?>[] right = {new SimpleTask("flow_add", "right").input("n", 10)};
        // Without any word the SDK joins on the last task of each branch.
        for (ForkJoin fork : List.of(
                new ForkJoin("fork", left, right), new ForkJoin("fork", left, right).joinOn("left_again", "right"))) {
            Workflow end = played(
                    flow(fork, adding("after", "${fork_join.output.left_again.n}"))
                            .output("n", "${after.output.n}")
                            .output("right", "${fork_join.output.right.n}"),
                    Map.of("n", 1));
            went(end, WorkflowStatus.COMPLETED, "fork", "left", "right", "fork_join", "left_again", "after");
            assertEquals(Map.of("n", 4, "right", 11), end.getOutput());
            assertEquals("FORK", end.getTaskByRefName("fork").getTaskType());
            assertEquals("JOIN", end.getTaskByRefName("fork_join").getTaskType());
            assertEquals(
                    Map.of("left_again", Map.of("n", 3), "right", Map.of("n", 11)), outputOf(end, "fork_join"));
        }
    }

    @Test
    @DisplayName("17 a worker names the branches")
    void dynamicFork() throws Exception {
        SimpleTask plan = new SimpleTask("flow_plan", "plan").input("numbers", "${workflow.input.numbers}");
        var flow = registered(flow(new DynamicFork("fan", plan), adding("after", "${fan_join.output.each_7.n}")));
        Workflow end = played(flow, Map.of("numbers", List.of(3, 7)));
        went(end, WorkflowStatus.COMPLETED, "plan", "fan", "each_3", "each_7", "fan_join", "after");
        assertEquals(Map.of("each_3", Map.of("n", 4), "each_7", Map.of("n", 8)), outputOf(end, "fan_join"));
        assertEquals(Map.of("n", 9), outputOf(end, "after"));
    }

    @Test
    @DisplayName("17 a worker of its own kind names the branches")
    void dynamicForkWorker() throws Exception {
        String task = house.defineTask(fresh("plan"));
        SimpleTask plan = new SimpleTask(task, "plan").input("numbers", "${workflow.input.numbers}");
        var flow = registered(flow(new DynamicFork("fan", plan)));
        List<Worker> planner = List.of(new DynamicForkWorker(task, new Planner(), 20));
        Workflow end = house.working(1, planner, () -> played(flow, Map.of("numbers", List.of(1, 2))));
        went(end, WorkflowStatus.COMPLETED, "plan", "fan", "each_1", "each_2", "fan_join");
        assertEquals(Map.of("each_1", Map.of("n", 2), "each_2", Map.of("n", 3)), outputOf(end, "fan_join"));
    }

    @Test
    @DisplayName("17 one task for each input")
    void inputs() throws Exception {
        DynamicFork fan = new DynamicFork("fan", "${workflow.input.nothing}", "${workflow.input.nothing}")
                .input("forkTaskName", "flow_add")
                .input("forkTaskInputs", "${workflow.input.numbers}");
        Workflow end = played(flow(fan), Map.of("numbers", List.of(Map.of("n", 3), Map.of("n", 7))));
        went(end, WorkflowStatus.COMPLETED, "fan", "_flow_add_0", "_flow_add_1", "fan_join");
        assertEquals(Map.of("n", 7, "__index", 1), end.getTasks().get(2).getInputData());
        assertEquals(
                Map.of("_flow_add_0", Map.of("n", 4), "_flow_add_1", Map.of("n", 8)), outputOf(end, "fan_join"));
    }

    @Test
    @DisplayName("17 the data name a task")
    void dynamic() throws Exception {
        Dynamic chosen = new Dynamic("chosen", "${workflow.input.which}").input("n", N);
        Workflow end = played(flow(chosen), Map.of("which", "flow_add", "n", 1));
        went(end, WorkflowStatus.COMPLETED, "chosen");
        assertEquals("flow_add", end.getTasks().get(0).getTaskType());
        assertEquals(Map.of("n", 2), outputOf(end, "chosen"));
    }

    @Test
    @DisplayName("18 a value chooses the case")
    void value() throws Exception {
        Switch route = new Switch("route", "${workflow.input.tier}")
                .switchCase("gold", adding("gold"), adding("silver"))
                .defaultCase(adding("any_other"));
        var flow = registered(flow(route, adding("after")));
        Workflow taken = played(flow, Map.of("tier", "gold", "n", 1));
        went(taken, WorkflowStatus.COMPLETED, "route", "gold", "silver", "after");
        assertEquals(Map.of("evaluationResult", List.of("gold"), "selectedCase", "gold"), outputOf(taken, "route"));
        Workflow other = played(flow, Map.of("tier", "tin", "n", 1));
        went(other, WorkflowStatus.COMPLETED, "route", "any_other", "after");
        assertEquals("tin", outputOf(other, "route").get("selectedCase"));
    }

    @Test
    @DisplayName("18 a program chooses the case")
    void program() throws Exception {
        Switch route = new Switch("route", "$.n > 10 ? 'many' : $.n", true)
                .switchCase("many", adding("many"))
                .defaultCase(adding("few"))
                .input("n", N);
        var flow = registered(flow(route));
        went(played(flow, Map.of("n", 11)), WorkflowStatus.COMPLETED, "route", "many");
        Workflow other = played(flow, Map.of("n", 3));
        went(other, WorkflowStatus.COMPLETED, "route", "few");
        assertEquals(List.of("3"), outputOf(other, "route").get("evaluationResult"));
    }

    @Test
    @DisplayName("19 a loop goes on while its condition holds")
    void loop() throws Exception {
        DoWhile loop = new DoWhile(
                        "loop", "$.loop.iteration < $.most && $.step.n < 4", adding("step", "${loop.output.iteration}"))
                .input("most", "${workflow.input.most}");
        var flow = registered(flow(loop, adding("after", "${step.output.n}")));
        Workflow end = played(flow, Map.of("most", 10));
        went(end, WorkflowStatus.COMPLETED, "loop", "step__1", "step__2", "step__3", "after");
        assertEquals(3, end.getTaskByRefName("step__3").getIteration());
        assertEquals(
                Map.of("iteration", 3, "1", step(2), "2", step(3), "3", step(4)), outputOf(end, "loop"));
        assertEquals(Map.of("n", 5), outputOf(end, "after"));
        went(played(flow, Map.of("most", 1)), WorkflowStatus.COMPLETED, "loop", "step__1", "after");
    }

    @Test
    @DisplayName("19 a loop is counted")
    void counted() throws Exception {
        DoWhile loop = new DoWhile("loop", 2, adding("first"), adding("second", "${first.output.n}"));
        Workflow end = played(flow(loop), Map.of("n", 1));
        went(end, WorkflowStatus.COMPLETED, "loop", "first__1", "second__1", "first__2", "second__2");
        assertEquals(Map.of("first", Map.of("n", 2), "second", Map.of("n", 3)), outputOf(end, "loop").get("2"));
    }

    @Test
    @DisplayName("19 a loop goes over a list")
    void items() throws Exception {
        // The builder has no word for a list; as a parameter it is known by `_items`.
        DoWhile loop = new DoWhile("loop", "", adding("step", "${loop.output.loopItem}"))
                .input("_items", "${workflow.input.numbers}");
        Workflow end = played(flow(loop), Map.of("numbers", List.of(5, 8)));
        went(end, WorkflowStatus.COMPLETED, "loop", "step__1", "step__2");
        assertEquals(
                Map.of("iteration", 2, "loopIndex", 1, "loopItem", 8, "1", step(6), "2", step(9)),
                outputOf(end, "loop"));
    }

    private static Map<String, Object> step(int n) {
        return Map.of("step", Map.of("n", n));
    }

    @Test
    @DisplayName("20 a child runs in a branch")
    void child() throws Exception {
        var child = registered(flow(adding("inside")).output("n", "${inside.output.n}"));
        Task<?>[] below = {new SubWorkflow("below", child.getName(), 1).input("n", N)};
        Task<?>[] beside = {adding("beside")};
        Workflow end = played(flow(new ForkJoin("fork", below, beside)), Map.of("n", 20));
        went(end, WorkflowStatus.COMPLETED, "fork", "below", "beside", "fork_join");
        String run = end.getTaskByRefName("below").getSubWorkflowId();
        assertEquals(
                Map.of("below", Map.of("n", 21, "subWorkflowId", run), "beside", Map.of("n", 21)),
                outputOf(end, "fork_join"));
        Workflow seen = house.run(run);
        assertEquals(end.getWorkflowId(), seen.getParentWorkflowId());
        went(seen, WorkflowStatus.COMPLETED, "inside");
    }

    @Test
    @DisplayName("20 a child brings its definition")
    void given() throws Exception {
        var child = flow(adding("inside")).output("n", "${inside.output.n}").build();
        SubWorkflow below = new SubWorkflow("below", child).input("n", N);
        Workflow end = played(flow(below, adding("after", "${below.output.n}")), Map.of("n", 20));
        went(end, WorkflowStatus.COMPLETED, "below", "after");
        assertEquals(Map.of("n", 22), outputOf(end, "after"));
        Workflow seen = house.run(end.getTaskByRefName("below").getSubWorkflowId());
        assertEquals(child.getName(), seen.getWorkflowName());
        assertEquals(end.getWorkflowId(), seen.getParentWorkflowId());
        assertEquals(20, seen.getInput().get("n"));
        went(seen, WorkflowStatus.COMPLETED, "inside");
    }

    @Test
    @DisplayName("21 programs calculate")
    void programs() throws Exception {
        Javascript twice = new Javascript("double", "(function () { return {n: $.n * 2}; })()").input("n", N);
        Javascript triple = new Javascript("triple", "$.n * 3").input("n", "${double.output.result.n}");
        JQ sort = new JQ("sort", ".numbers | sort | .[]")
                .input("numbers", (Object) List.of(3, "${triple.output.result}", 1));
        SetVariable note = new SetVariable("note").input("least", "${sort.output.result}");
        Workflow end = played(
                flow(twice, triple, sort, note)
                        .output("triple", "${triple.output.result}")
                        .output("least", "${workflow.variables.least}"),
                Map.of("n", 2));
        went(end, WorkflowStatus.COMPLETED, "double", "triple", "sort", "note");
        assertEquals(Map.of("triple", 12, "least", 1), end.getOutput());
        assertEquals(Map.of("result", Map.of("n", 4)), outputOf(end, "double"));
        assertEquals(Map.of("result", 1, "resultList", List.of(1, 3, 12)), outputOf(end, "sort"));
        assertEquals(Map.of("least", 1), end.getVariables());
    }

    @Test
    @DisplayName("21 a program that throws fails the run")
    void thrown() throws Exception {
        Workflow end = played(flow(new Javascript("broken", "$.nobody.knows")), Map.of());
        went(end, WorkflowStatus.FAILED, "broken");
        assertEquals(Status.FAILED_WITH_TERMINAL_ERROR, end.getTasks().get(0).getStatus());
        String reason = end.getTasks().get(0).getReasonForIncompletion();
        assertTrue(reason.contains("undefined"), reason);
        assertEquals(Map.of("error", reason), outputOf(end, "broken"));
    }

    @Test
    @DisplayName("21 a run ends early")
    void early() throws Exception {
        Terminate enough = new Terminate("enough", WorkflowStatus.FAILED, "there is too much", Map.of("n", N));
        Switch route = new Switch("route", "$.n > 10", true).switchCase("true", enough).input("n", N);
        var flow = registered(flow(route, adding("after")));
        Workflow end = played(flow, Map.of("n", 11));
        went(end, WorkflowStatus.FAILED, "route", "enough");
        assertEquals("there is too much", end.getReasonForIncompletion());
        assertEquals(Map.of("n", 11), end.getOutput());
        went(played(flow, Map.of("n", 1)), WorkflowStatus.COMPLETED, "route", "after");
    }
}
