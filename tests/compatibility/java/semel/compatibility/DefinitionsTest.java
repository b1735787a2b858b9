package semel.compatibility;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static semel.compatibility.House.fresh;
import static semel.compatibility.House.refused;
import static semel.compatibility.House.request;
import static semel.compatibility.House.step;
import static semel.compatibility.House.workflowDef;

import com.netflix.conductor.common.metadata.tasks.TaskDef;
import com.netflix.conductor.common.metadata.workflow.IdempotencyStrategy;
import com.netflix.conductor.common.metadata.workflow.StartWorkflowRequest;
import com.netflix.conductor.common.metadata.workflow.WorkflowDef;
import com.netflix.conductor.common.run.Workflow;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Scenarios 1 and 2: definitions are registered, runs are started. */
@ExtendWith(OneLine.class)
class DefinitionsTest {
    private final House house = new House();

    @Test
    @DisplayName("01 task definitions are registered and updated")
    void taskDefinitions() {
        TaskDef wanted = House.taskDef(fresh("task"));
        wanted.setRetryLogic(TaskDef.RetryLogic.LINEAR_BACKOFF);
        house.metadata.registerTaskDefs(List.of(wanted));
        house.metadata.registerTaskDefs(List.of(wanted));
        TaskDef read = house.metadata.getTaskDef(wanted.getName());
        assertEquals(TaskDef.RetryLogic.LINEAR_BACKOFF, read.getRetryLogic());
        wanted.setRetryCount(5);
        house.metadata.updateTaskDef(wanted);
        assertEquals(5, house.metadata.getTaskDef(wanted.getName()).getRetryCount());
        assertTrue(house.metadata.getAllTaskDefs().contains(wanted));
        house.metadata.unregisterTaskDef(wanted.getName());
        var refusal = refused(404, () -> house.metadata.getTaskDef(wanted.getName()));
        assertEquals("No such taskType found by name: " + wanted.getName(), message(refusal.getMessage()));
    }

    @Test
    @DisplayName("01 workflow definitions are registered and overwritten")
    void workflowDefinitions() {
        String name = fresh("workflow");
        house.metadata.registerWorkflowDef(workflowDef(name, List.of(step("one", "one"))));
        WorkflowDef second = workflowDef(name, List.of(step("two", "two")));
        refused(409, () -> house.metadata.registerWorkflowDef(second, false));
        house.metadata.registerWorkflowDef(second, true);
        assertEquals("two", house.metadata.getWorkflowDef(name, 1).getTasks().get(0).getTaskReferenceName());
        house.metadata.updateWorkflowDefs(List.of(workflowDef(name, List.of(step("three", "three")))));
        assertEquals("three", house.metadata.getWorkflowDef(name, null).getTasks().get(0).getName());
        assertTrue(house.metadata.getAllWorkflowDefs().stream().anyMatch(each -> each.getName().equals(name)));
        assertTrue(house.metadata.getAllWorkflowsWithLatestVersions().stream()
                .anyMatch(each -> each.getName().equals(name)));
        house.metadata.unregisterWorkflowDef(name, 1);
        refused(404, () -> house.metadata.getWorkflowDef(name, 1));
    }

    @Test
    @DisplayName("01 a name with a blank is found again")
    void blank() {
        // The SDK writes a blank in a path as `+`.
        String name = house.define(workflowDef(fresh("odd a"), List.of(step("one", "one"))));
        assertEquals(name, house.metadata.getWorkflowDef(name, 1).getName());
    }

    @Test
    @DisplayName("01 an invalid definition is told field by field")
    void invalidDefinition() {
        var refusal = refused(400, () -> house.define());
        assertEquals("Validation failed, check below errors for detail.", message(refusal.getMessage()));
        assertTrue(refusal.getValidationErrors().stream().anyMatch(each -> each.getPath().contains("tasks")));
    }

    @Test
    @DisplayName("02 a run starts")
    void start() {
        String name = house.define(step("one", "one"));
        String run = house.workflows.startWorkflow(request(name, 7).withCorrelationId("order-7").withPriority(3));
        assertTrue(run.matches("[0-9a-f-]{36}"), run);
        Workflow seen = house.run(run);
        assertEquals(Map.of("n", 7), seen.getInput());
        assertEquals("order-7", seen.getCorrelationId());
        assertEquals(3, seen.getPriority());
        assertEquals("RUNNING", house.workflows.getWorkflowStatusSummary(run, true, true).getStatus().getValue());
    }

    @Test
    @DisplayName("02 an unknown workflow is not started")
    void unknown() {
        var refusal = refused(404, () -> house.start(fresh("nobody"), 1));
        assertTrue(refusal.getMessage().contains("No such workflow defined."), refusal.getMessage());
    }

    @Test
    @DisplayName("02 a definition may come with the start")
    void inline() {
        String name = fresh("inline");
        WorkflowDef definition = workflowDef(name, List.of(step("one", "one")));
        String run = house.workflows.startWorkflow(request(name, 1).withWorkflowDef(definition));
        assertEquals("one", house.run(run).getTasks().get(0).getReferenceTaskName());
    }

    @Test
    @DisplayName("02 a key starts one run")
    void keys() {
        String name = house.define(step("one", "one"));
        String key = fresh("key");
        String run = house.workflows.startWorkflow(keyed(name, key, null));
        refused(409, () -> house.workflows.startWorkflow(keyed(name, key, IdempotencyStrategy.FAIL)));
        refused(409, () -> house.workflows.startWorkflow(keyed(name, key, IdempotencyStrategy.FAIL_ON_RUNNING)));
        assertEquals(run, house.workflows.startWorkflow(keyed(name, key, IdempotencyStrategy.RETURN_EXISTING)));
        house.workflows.terminateWorkflow(run, "over");
        String next = house.workflows.startWorkflow(keyed(name, key, IdempotencyStrategy.FAIL_ON_RUNNING));
        assertNotEquals(run, next);
        assertFalse(next.equals(house.workflows.startWorkflow(keyed(name, null, IdempotencyStrategy.FAIL))));
    }

    @Test
    @DisplayName("02 a run that is not there is told by its id")
    void missing() {
        var refusal = refused(404, () -> house.run(House.MISSING));
        assertEquals("No such workflow found by id: " + House.MISSING, message(refusal.getMessage()));
    }

    private static StartWorkflowRequest keyed(String name, String key, IdempotencyStrategy strategy) {
        StartWorkflowRequest request = request(name, 1);
        request.setIdempotencyKey(key);
        request.setIdempotencyStrategy(strategy);
        return request;
    }

    /** The SDK puts the status in front of the server's words. */
    private static String message(String text) {
        return text.replaceFirst("^\\d+: ", "");
    }
}
