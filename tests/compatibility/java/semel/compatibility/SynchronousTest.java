package semel.compatibility;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static semel.compatibility.House.fresh;
import static semel.compatibility.House.refused;
import static semel.compatibility.House.request;
import static semel.compatibility.House.step;
import static semel.compatibility.House.workflowDef;

import com.netflix.conductor.client.worker.Worker;
import com.netflix.conductor.common.metadata.tasks.Task;
import com.netflix.conductor.common.metadata.tasks.TaskResult;
import com.netflix.conductor.common.metadata.workflow.WorkflowDef;
import com.netflix.conductor.common.metadata.workflow.WorkflowTask;
import com.netflix.conductor.common.run.Workflow;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.conductoross.conductor.common.model.Consistency;
import org.conductoross.conductor.common.model.ReturnStrategy;
import org.conductoross.conductor.common.model.SignalResponse;
import org.conductoross.conductor.common.model.WorkflowRun;
import org.conductoross.conductor.common.model.WorkflowStateUpdate;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Scenarios 8 and 9: a caller waits for a run, or wakes it. */
@ExtendWith(OneLine.class)
class SynchronousTest {
    private final House house = new House();

    private static List<Worker> adder(String type) {
        return List.of(Worker.create(type, task -> {
            TaskResult result = new TaskResult(task);
            result.setStatus(TaskResult.Status.COMPLETED);
            return result.addOutputData("n", (Integer) task.getInputData().get("n") + 1);
        }));
    }

    /** A workflow that waits twice. */
    private String waiting() {
        List<WorkflowTask> waits = List.of(step("wait", "wait_1"), step("wait", "wait_2"));
        waits.forEach(wait -> wait.setType("WAIT"));
        waits.forEach(wait -> wait.setInputParameters(Map.of()));
        WorkflowDef definition = workflowDef(fresh("waiting"), waits);
        definition.setOutputParameters(Map.of("said", "${wait_1.output.said}"));
        return house.define(definition);
    }

    /** A run of it that has come to its first wait. */
    private String waitingRun() throws Exception {
        String run = house.start(waiting(), 1);
        house.reached(run, "wait_1", Task.Status.IN_PROGRESS);
        return run;
    }

    private SignalResponse executed(String name, ReturnStrategy strategy) throws Exception {
        return house.workflows
                .executeWorkflowWithReturnStrategy(request(name, 1), List.of(), 10, Consistency.DURABLE, strategy)
                .get(30, TimeUnit.SECONDS);
    }

    @Test
    @DisplayName("08 execute gives the output")
    void execute() throws Exception {
        String task = house.defineTask(fresh("add"));
        WorkflowDef definition = workflowDef(fresh("workflow"), List.of(step(task, "only")));
        definition.setOutputParameters(Map.of("n", "${only.output.n}"));
        house.define(definition);
        WorkflowRun run = house.working(1, adder(task), () -> house.workflows.executeWorkflow(
                request(definition.getName(), 4).withCorrelationId("sync"), null, Duration.ofSeconds(30)));
        assertEquals(Workflow.WorkflowStatus.COMPLETED, run.getStatus());
        assertEquals(Map.of("n", 5), run.getOutput());
        assertEquals("sync", run.getCorrelationId());
    }

    @Test
    @DisplayName("08 execute answers when the time is over")
    void timeOver() throws Exception {
        String name = house.define(step(fresh("nobody"), "only"));
        WorkflowRun run = house.workflows.executeWorkflow(request(name, 1), "", 1).get(30, TimeUnit.SECONDS);
        assertEquals(Workflow.WorkflowStatus.RUNNING, run.getStatus());
        assertEquals(Task.Status.SCHEDULED, run.getTasks().get(0).getStatus());
    }

    @Test
    @DisplayName("08 execute waits until a step is over")
    void untilStep() throws Exception {
        String task = house.defineTask(fresh("add"));
        String name = house.define(step(task, "first"), step(fresh("nobody"), "second"));
        WorkflowRun run = house.working(1, adder(task), () -> house.workflows
                .executeWorkflow(request(name, 1), List.of("first"), 20).get(30, TimeUnit.SECONDS));
        assertEquals(Workflow.WorkflowStatus.RUNNING, run.getStatus());
        assertEquals(Task.Status.COMPLETED, run.getTasks().get(0).getStatus());
    }

    @Test
    @DisplayName("08 execute tells what blocks")
    void blocks() throws Exception {
        String name = waiting();
        for (ReturnStrategy strategy : List.of(ReturnStrategy.TARGET_WORKFLOW, ReturnStrategy.BLOCKING_WORKFLOW)) {
            SignalResponse seen = executed(name, strategy);
            assertEquals(strategy, seen.getResponseType());
            assertEquals(seen.getTargetWorkflowId(), seen.getWorkflow().getWorkflowId());
        }
        assertEquals("wait_1", executed(name, ReturnStrategy.BLOCKING_TASK).getBlockingTask().getReferenceTaskName());
        assertEquals(ReturnStrategy.BLOCKING_TASK_INPUT, executed(name, ReturnStrategy.BLOCKING_TASK_INPUT).getResponseType());
    }

    @Test
    @DisplayName("09 a signal wakes a run")
    void signal() throws Exception {
        String run = waitingRun();
        house.tasks.signalAsync(run, Task.Status.COMPLETED, Map.of("said", "hello"));
        house.reached(run, "wait_1", Task.Status.COMPLETED);
        house.reached(run, "wait_2", Task.Status.IN_PROGRESS);
        SignalResponse answered = house.tasks.signal(run, Task.Status.COMPLETED, Map.of());
        assertEquals(ReturnStrategy.TARGET_WORKFLOW, answered.getResponseType());
        assertEquals("COMPLETED", answered.getStatus());
        assertEquals(Map.of("said", "hello"), answered.getOutput());
    }

    @Test
    @DisplayName("09 a signal tells the next that blocks")
    void nextBlocks() throws Exception {
        SignalResponse answered = house.tasks.signal(
                waitingRun(), Task.Status.COMPLETED, Map.of(), ReturnStrategy.BLOCKING_TASK, 3_000L);
        assertEquals("wait_2", answered.getReferenceTaskName());
        assertEquals("WAIT", answered.getTaskType());
    }

    @Test
    @DisplayName("09 a signal needs a run that waits")
    void nobodyWaits() {
        String run = house.start(house.define(step(fresh("nobody"), "only")), 1);
        house.tasks.signalAsync(run, Task.Status.COMPLETED, Map.of());
        refused(404, () -> house.tasks.signalAsync(House.MISSING, Task.Status.COMPLETED, Map.of()));
        refused(404, () -> house.tasks.signal(run, Task.Status.COMPLETED, Map.of()));
    }

    @Test
    @DisplayName("09 a step is answered and the run returned")
    void answered() throws Exception {
        String run = waitingRun();
        Workflow seen = house.tasks.updateTaskSync(run, "wait_1", TaskResult.Status.COMPLETED, Map.of("said", "by name"));
        assertEquals(run, seen.getWorkflowId());
        assertEquals("by name", seen.getTasks().get(0).getOutputData().get("said"));
    }

    @Test
    @DisplayName("09 state is updated and waited for")
    void state() throws Exception {
        String run = waitingRun();
        TaskResult result = new TaskResult();
        result.setWorkflowInstanceId(run);
        result.setStatus(TaskResult.Status.COMPLETED);
        WorkflowStateUpdate update = new WorkflowStateUpdate();
        update.setTaskReferenceName("wait_1");
        update.setTaskResult(result);
        update.setVariables(Map.of("colour", "blue"));
        WorkflowRun seen = house.workflows.updateWorkflow(run, List.of("wait_1"), 5, update);
        assertEquals(Workflow.WorkflowStatus.RUNNING, seen.getStatus());
        assertEquals(Map.of("colour", "blue"), seen.getVariables());
    }
}
