package semel.compatibility;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static semel.compatibility.House.fresh;
import static semel.compatibility.House.refused;
import static semel.compatibility.House.step;
import static semel.compatibility.House.workflowDef;

import com.netflix.conductor.common.metadata.tasks.Task;
import com.netflix.conductor.common.metadata.tasks.TaskResult;
import com.netflix.conductor.common.metadata.workflow.RerunWorkflowRequest;
import com.netflix.conductor.common.metadata.workflow.UpgradeWorkflowRequest;
import com.netflix.conductor.common.metadata.workflow.WorkflowDef;
import com.netflix.conductor.common.model.BulkResponse;
import com.netflix.conductor.common.run.Workflow;
import com.netflix.conductor.common.run.WorkflowTestRequest;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Scenario 7: what an operator does to a run. The SDK has no client for jumps. */
@ExtendWith(OneLine.class)
class OperationsTest {
    private final House house = new House();
    private String task;
    private String name;
    private String run;

    @BeforeEach
    void twoSteps() {
        task = house.defineTask(fresh("task"));
        name = house.define(step(task, "first"), step(task, "second"));
        run = house.start(name, 1);
    }

    private Workflow.WorkflowStatus status(String id) {
        return house.run(id).getStatus();
    }

    @Test
    @DisplayName("07 pause and resume")
    void pause() {
        house.workflows.pauseWorkflow(run);
        house.workflows.pauseWorkflow(run);
        assertEquals(Workflow.WorkflowStatus.PAUSED, status(run));
        house.workflows.resumeWorkflow(run);
        assertEquals(Workflow.WorkflowStatus.RUNNING, status(run));
        refused(409, () -> house.workflows.resumeWorkflow(run));
    }

    @Test
    @DisplayName("07 terminate")
    void terminate() {
        house.workflows.terminateWorkflowWithFailure(run, "not needed", true);
        Workflow seen = house.run(run);
        assertEquals(Workflow.WorkflowStatus.TERMINATED, seen.getStatus());
        assertEquals("not needed", seen.getReasonForIncompletion());
        assertEquals(Task.Status.CANCELED, seen.getTasks().get(0).getStatus());
    }

    @Test
    @DisplayName("07 retry")
    void retry() throws Exception {
        house.answer(run, "first", TaskResult.Status.FAILED);
        assertEquals(Workflow.WorkflowStatus.FAILED, house.ended(run).getStatus());
        house.workflows.retryLastFailedTask(run);
        house.answer(run, "first", TaskResult.Status.COMPLETED);
        house.answer(run, "second", TaskResult.Status.COMPLETED);
        Workflow end = house.ended(run);
        assertEquals(
                List.of(Task.Status.FAILED, Task.Status.COMPLETED, Task.Status.COMPLETED),
                end.getTasks().stream().map(Task::getStatus).toList());
        refused(409, () -> house.workflows.retryLastFailedTask(run, false));
    }

    @Test
    @DisplayName("07 restart")
    void restart() {
        house.workflows.terminateWorkflow(run, "again");
        house.define(workflowDef(name, List.of(step("other", "other"))));
        house.workflows.restart(run, true);
        Workflow seen = house.run(run);
        assertEquals(Workflow.WorkflowStatus.RUNNING, seen.getStatus());
        assertEquals("other", seen.getTasks().get(0).getReferenceTaskName());
    }

    @Test
    @DisplayName("07 rerun")
    void rerun() throws Exception {
        house.answer(run, "first", TaskResult.Status.COMPLETED);
        house.answer(run, "second", TaskResult.Status.COMPLETED);
        RerunWorkflowRequest request = new RerunWorkflowRequest();
        request.setReRunFromTaskId(house.ended(run).getTasks().get(1).getTaskId());
        request.setTaskInput(Map.of("n", 5));
        assertEquals(run, house.workflows.rerunWorkflow(run, request));
        assertEquals(5, house.reached(run, "second", Task.Status.SCHEDULED).getInputData().get("n"));
    }

    @Test
    @DisplayName("07 skip")
    void skip() throws Exception {
        house.workflows.skipTaskFromWorkflow(run, "second");
        house.answer(run, "first", TaskResult.Status.COMPLETED);
        assertEquals(Workflow.WorkflowStatus.COMPLETED, house.ended(run).getStatus());
        house.reached(run, "second", Task.Status.SKIPPED);
    }

    @Test
    @DisplayName("07 variables, callbacks, evaluation and removal")
    void variables() {
        assertEquals("red", house.workflows.updateVariables(run, Map.of("colour", "red")).getVariables().get("colour"));
        house.workflows.resetCallbacksForInProgressTasks(run);
        house.workflows.runDecider(run);
        // It goes on: it ends first, and is gone.
        house.workflows.deleteWorkflow(run, true);
        refused(404, () -> house.run(run));
    }

    @Test
    @DisplayName("07 upgrade")
    void upgrade() {
        WorkflowDef newer = workflowDef(name, List.of(step(task, "first"), step(task, "third")));
        newer.setVersion(2);
        house.define(newer);
        UpgradeWorkflowRequest request = new UpgradeWorkflowRequest();
        request.setName(name);
        request.setVersion(2);
        house.workflows.upgradeRunningWorkflow(run, request);
        assertEquals(2, house.run(run).getWorkflowVersion());
    }

    @Test
    @DisplayName("07 many at once")
    void bulk() {
        String other = house.start(name, 2);
        BulkResponse<?> paused = house.workflows.pauseWorkflows(List.of(run, other, House.MISSING));
        assertEquals(Set.of(run, other), Set.copyOf(paused.getBulkSuccessfulResults()));
        assertEquals(Set.of(House.MISSING), paused.getBulkErrorResults().keySet());
        house.workflows.resumeWorkflows(List.of(run, other));
        house.workflows.terminateWorkflows(List.of(run, other), "all done");
        assertEquals(Workflow.WorkflowStatus.TERMINATED, status(other));
        house.workflows.retryWorkflows(List.of(run));
        house.workflows.restartWorkflows(List.of(other), true);
        assertEquals(Workflow.WorkflowStatus.RUNNING, status(run));
        assertEquals(Workflow.WorkflowStatus.RUNNING, status(other));
    }

    @Test
    @DisplayName("07 a definition is tried with made up answers")
    void trial() {
        WorkflowTestRequest request = new WorkflowTestRequest();
        request.setName(name);
        request.setVersion(1);
        request.setInput(Map.of("n", 1));
        request.setTaskRefToMockOutput(Map.of(
                "first", List.of(new WorkflowTestRequest.TaskMock(TaskResult.Status.COMPLETED, Map.of("a", 1))),
                "second", List.of(new WorkflowTestRequest.TaskMock(TaskResult.Status.COMPLETED, Map.of()))));
        Workflow tried = house.workflows.testWorkflow(request);
        assertEquals(Workflow.WorkflowStatus.COMPLETED, tried.getStatus());
        assertEquals(1, tried.getTasks().get(0).getOutputData().get("a"));
    }
}
