package semel.compatibility;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static semel.compatibility.House.eventually;
import static semel.compatibility.House.fresh;
import static semel.compatibility.House.refused;
import static semel.compatibility.House.request;
import static semel.compatibility.House.step;

import com.netflix.conductor.common.metadata.tasks.PollData;
import com.netflix.conductor.common.metadata.tasks.Task;
import com.netflix.conductor.common.metadata.tasks.TaskExecLog;
import com.netflix.conductor.common.metadata.tasks.TaskResult;
import com.netflix.conductor.common.metadata.workflow.StartWorkflowRequest;
import com.netflix.conductor.common.run.SearchResult;
import com.netflix.conductor.common.run.TaskSummary;
import com.netflix.conductor.common.run.Workflow;
import com.netflix.conductor.common.run.WorkflowSummary;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Scenarios 10 and 11: finding runs and tasks, their logs and queues. */
@ExtendWith(OneLine.class)
class LookingTest {
    private final House house = new House();

    /** The runs that match, once there are so many: the index follows a moment later. */
    private List<WorkflowSummary> found(String query, int count) throws Exception {
        return eventually(count + " runs with " + query, () -> {
            SearchResult<WorkflowSummary> seen = house.workflows.search(0, 100, "startTime:ASC", "*", query);
            return seen.getTotalHits() == count && seen.getResults().size() == count ? seen.getResults() : null;
        });
    }

    private Task poll(String type) throws Exception {
        return eventually("a task of type " + type, () -> house.tasks.pollTask(type, "hand", null));
    }

    @Test
    @DisplayName("10 runs are found")
    void runs() throws Exception {
        String name = house.define(step(fresh("nobody"), "only"));
        String key = fresh("key");
        String first = house.workflows.startWorkflow(request(name, 1).withCorrelationId("c-" + name));
        StartWorkflowRequest keyed = request(name, 2);
        keyed.setIdempotencyKey(key);
        String second = house.workflows.startWorkflow(keyed);
        house.workflows.terminateWorkflow(first, "over");
        assertEquals(
                List.of(first, second),
                found("workflowType = '" + name + "'", 2).stream().map(WorkflowSummary::getWorkflowId).toList());
        WorkflowSummary ended = found("workflowType = '" + name + "' AND status = 'TERMINATED'", 1).get(0);
        assertEquals(Workflow.WorkflowStatus.TERMINATED, ended.getStatus());
        assertTrue(ended.getStartTime().endsWith("Z"), ended.getStartTime());
        assertEquals(second, found("idempotencyKey = '" + key + "'", 1).get(0).getWorkflowId());
        assertEquals(first, found("correlationId = 'c-" + name + "'", 1).get(0).getWorkflowId());
        assertEquals(2, house.workflows.search("workflowType IN (" + name + ")").getTotalHits());
        SearchResult<Workflow> whole = house.workflows.searchV2("workflowType = '" + name + "'");
        assertEquals(2, whole.getResults().size());
        SearchResult<WorkflowSummary> page = house.workflows.search(1, 1, "startTime:ASC", "*", "workflowType = '" + name + "'");
        assertEquals(2, page.getTotalHits());
        assertEquals(second, page.getResults().get(0).getWorkflowId());
    }

    @Test
    @DisplayName("10 a malformed query is refused")
    void malformed() {
        refused(400, () -> house.workflows.search("status ~ 'x'"));
    }

    @Test
    @DisplayName("10 tasks are found")
    void tasks() throws Exception {
        String task = fresh("sought");
        String run = house.start(house.define(step(task, "only")), 1);
        TaskSummary seen = eventually("the task", () -> house.tasks.search("taskDefName = '" + task + "'")
                .getResults().stream().findFirst().orElse(null));
        assertEquals(run, seen.getWorkflowId());
        assertEquals(Task.Status.SCHEDULED, seen.getStatus());
        SearchResult<Task> whole = house.tasks.searchV2(0, 10, null, "*", "workflowId = '" + run + "'");
        assertEquals("only", whole.getResults().get(0).getReferenceTaskName());
    }

    @Test
    @DisplayName("10 runs are found by correlation")
    void correlated() throws Exception {
        String name = house.define(step(fresh("nobody"), "only"));
        String open = fresh("c");
        String closed = fresh("c");
        String openRun = house.workflows.startWorkflow(request(name, 1).withCorrelationId(open));
        String closedRun = house.workflows.startWorkflow(request(name, 1).withCorrelationId(closed));
        house.workflows.terminateWorkflow(closedRun, "over");
        Map<String, List<Workflow>> seen = eventually("both runs", () -> {
            var found = house.workflows.getWorkflowsByNamesAndCorrelationIds(List.of(open, closed), List.of(name), true, true);
            return found.get(open).size() == 1 && found.get(closed).size() == 1 ? found : null;
        });
        assertEquals(openRun, seen.get(open).get(0).getWorkflowId());
        assertEquals(openRun, house.workflows.getWorkflows(name, open, false, true).get(0).getWorkflowId());
        assertTrue(house.workflows.getWorkflows(name, closed, false, false).isEmpty());
        assertTrue(house.workflows.getRunningWorkflow(name, 1).contains(openRun));
        long now = System.currentTimeMillis();
        assertTrue(house.workflows.getWorkflowsByTimePeriod(name, 1, now - 60_000, now + 60_000).contains(openRun));
    }

    @Test
    @DisplayName("11 logs and tasks are read")
    void logs() throws Exception {
        String task = fresh("logged");
        String run = house.start(house.define(step(task, "only")), 1);
        String id = poll(task).getTaskId();
        List<TaskExecLog> none = house.tasks.getTaskLogs(id);
        assertTrue(none == null || none.isEmpty());
        // The SDK sends bare text, which is kept as it came.
        house.tasks.logMessageForTask(id, "plain words");
        house.tasks.logMessageForTask(id, "say \"hi\"");
        assertEquals(
                List.of("plain words", "say \"hi\""),
                house.tasks.getTaskLogs(id).stream().map(TaskExecLog::getLog).toList());
        Task seen = house.tasks.getTaskDetails(id);
        assertEquals(run, seen.getWorkflowInstanceId());
        assertEquals(Task.Status.IN_PROGRESS, seen.getStatus());
        refused(404, () -> house.tasks.getTaskDetails(House.MISSING));
    }

    @Test
    @DisplayName("11 a result is reported once")
    void once() throws Exception {
        String task = fresh("once");
        String run = house.start(house.define(step(task, "only")), 1);
        Task polled = poll(task);
        assertEquals(true, house.tasks.ack(polled.getTaskId(), "hand"));
        for (int n = 1; n <= 2; n++) {
            TaskResult result = new TaskResult(polled);
            result.setStatus(TaskResult.Status.COMPLETED);
            house.tasks.updateTask(result.addOutputData("n", n));
        }
        assertEquals(Map.of("n", 1), house.ended(run).getTasks().get(0).getOutputData());
    }

    @Test
    @DisplayName("11 a result brings the next task")
    void next() throws Exception {
        String task = fresh("next");
        String name = house.define(step(task, "only"));
        house.start(name, 1);
        house.start(name, 2);
        TaskResult result = new TaskResult(poll(task));
        result.setStatus(TaskResult.Status.COMPLETED);
        Task second = house.tasks.updateTaskV2(result);
        assertEquals(2, second.getInputData().get("n"));
        TaskResult last = new TaskResult(second);
        last.setStatus(TaskResult.Status.COMPLETED);
        assertEquals(null, house.tasks.updateTaskV2(last));
    }

    @Test
    @DisplayName("11 queues and polls are counted")
    void queues() throws Exception {
        String task = fresh("queued");
        String name = house.define(step(task, "only"));
        for (int n = 0; n < 3; n++) {
            house.start(name, n);
        }
        assertEquals(3, house.tasks.getQueueSizeForTask(task));
        assertEquals(3, house.tasks.getQueueSizeForTask(task, null, null, null));
        assertEquals(2, house.tasks.batchPollTasksByTaskType(task, "hand", 2, 100).size());
        assertTrue(house.tasks.batchPollTasksInDomain(task, "elsewhere", "hand", 2, 100).isEmpty());
        PollData polled = house.tasks.getPollData(task).stream()
                .filter(each -> !"elsewhere".equals(each.getDomain())).findFirst().orElseThrow();
        assertEquals("hand", polled.getWorkerId());
        assertTrue(house.tasks.getAllPollData().stream().anyMatch(each -> each.getQueueName().equals(task)));
        assertTrue(house.tasks.requeuePendingTasksByTaskType(task).matches("\\d+"));
        house.tasks.removeTaskFromQueue(task, House.MISSING);
    }
}
