package semel.compatibility;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static semel.compatibility.House.eventually;
import static semel.compatibility.House.fresh;
import static semel.compatibility.House.step;
import static semel.compatibility.House.taskDef;
import static semel.compatibility.House.workflowDef;

import com.netflix.conductor.client.worker.Worker;
import com.netflix.conductor.common.metadata.tasks.Task;
import com.netflix.conductor.common.metadata.tasks.TaskDef;
import com.netflix.conductor.common.metadata.tasks.TaskResult;
import com.netflix.conductor.common.metadata.workflow.SubWorkflowParams;
import com.netflix.conductor.common.metadata.workflow.WorkflowDef;
import com.netflix.conductor.common.metadata.workflow.WorkflowTask;
import com.netflix.conductor.common.run.Workflow;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Scenarios 3, 5, 6 and 13: the SDK's own runner does the work. It has no async workers. */
@ExtendWith(OneLine.class)
class WorkersTest {
    private static final int RUNS = 50;
    private final House house = new House();

    /** A worker that polls often. */
    private static Worker worker(String task, boolean extendsLease, Function<Task, TaskResult> work) {
        return new Worker() {
            @Override
            public String getTaskDefName() {
                return task;
            }

            @Override
            public TaskResult execute(Task polled) {
                return work.apply(polled);
            }

            @Override
            public int getPollingInterval() {
                return 20;
            }

            @Override
            public boolean leaseExtendEnabled() {
                return extendsLease;
            }
        };
    }

    private static TaskResult completed(Task task, Map<String, Object> output) {
        TaskResult result = new TaskResult(task);
        result.setStatus(TaskResult.Status.COMPLETED);
        result.setOutputData(output);
        return result;
    }

    private static TaskResult add(Task task) {
        int n = (Integer) task.getInputData().get("n");
        return completed(task, Map.of("n", n + 1)).log("adding to " + n);
    }

    /** A workflow that adds one three times. */
    private String threeSteps(String task) {
        List<WorkflowTask> steps = List.of(step(task, "first"), step(task, "second"), step(task, "third"));
        steps.get(1).setInputParameters(Map.of("n", "${first.output.n}"));
        steps.get(2).setInputParameters(Map.of("n", "${second.output.n}"));
        WorkflowDef definition = workflowDef(fresh("workflow"), steps);
        definition.setOutputParameters(Map.of("n", "${third.output.n}"));
        return house.define(definition);
    }

    @Test
    @DisplayName("03 threads complete fifty runs")
    void threads() throws Exception {
        String task = house.defineTask(fresh("add"));
        String name = threeSteps(task);
        List<Workflow> ends = house.working(4, List.of(worker(task, false, WorkersTest::add)), () -> {
            List<String> runs = new ArrayList<>();
            for (int n = 0; n < RUNS; n++) {
                runs.add(house.start(name, n));
            }
            List<Workflow> seen = new ArrayList<>();
            for (String run : runs) {
                seen.add(house.ended(run));
            }
            return seen;
        });
        for (int n = 0; n < RUNS; n++) {
            assertEquals(Workflow.WorkflowStatus.COMPLETED, ends.get(n).getStatus());
            assertEquals(n + 3, ends.get(n).getOutput().get("n"));
            assertEquals(3, ends.get(n).getTasks().size());
        }
        String first = ends.get(0).getTasks().get(0).getTaskId();
        assertEquals("adding to 0", house.tasks.getTaskLogs(first).get(0).getLog());
    }

    @Test
    @DisplayName("05 a failing worker is retried until it succeeds")
    void retried() throws Exception {
        TaskDef definition = taskDef(fresh("flaky"));
        definition.setRetryCount(3);
        house.metadata.registerTaskDefs(List.of(definition));
        String name = house.define(step(definition.getName(), "only"));
        Worker flaky = worker(definition.getName(), false, task -> {
            if (task.getRetryCount() < 2) {
                throw new IllegalStateException("attempt " + task.getRetryCount() + " failed");
            }
            return completed(task, Map.of("attempt", task.getRetryCount()));
        });
        Workflow end = house.working(1, List.of(flaky), () -> house.ended(house.start(name, 9)));
        assertEquals(Workflow.WorkflowStatus.COMPLETED, end.getStatus());
        assertEquals(
                List.of(Task.Status.FAILED, Task.Status.FAILED, Task.Status.COMPLETED),
                end.getTasks().stream().map(Task::getStatus).toList());
        assertEquals(List.of(0, 1, 2), end.getTasks().stream().map(Task::getRetryCount).toList());
        assertTrue(end.getTasks().get(0).getReasonForIncompletion().contains("attempt 0 failed"));
    }

    @Test
    @DisplayName("05 a terminal error ends the run")
    void terminal() throws Exception {
        TaskDef definition = taskDef(fresh("hopeless"));
        definition.setRetryCount(3);
        house.metadata.registerTaskDefs(List.of(definition));
        String name = house.define(step(definition.getName(), "only"));
        Worker hopeless = worker(definition.getName(), false, task -> {
            TaskResult result = new TaskResult(task);
            result.setStatus(TaskResult.Status.FAILED_WITH_TERMINAL_ERROR);
            result.setReasonForIncompletion("can never work");
            return result;
        });
        Workflow end = house.working(1, List.of(hopeless), () -> house.ended(house.start(name, 4)));
        assertEquals(Workflow.WorkflowStatus.FAILED, end.getStatus());
        assertEquals(1, end.getTasks().size());
        assertEquals(Task.Status.FAILED_WITH_TERMINAL_ERROR, end.getTasks().get(0).getStatus());
        assertTrue(end.getReasonForIncompletion().contains("can never work"));
    }

    @Test
    @DisplayName("06 a long task keeps its lease")
    void lease() throws Exception {
        TaskDef definition = taskDef(fresh("long"));
        definition.setRetryCount(3);
        definition.setResponseTimeoutSeconds(5);
        house.metadata.registerTaskDefs(List.of(definition));
        String name = house.define(step(definition.getName(), "only"));
        Worker patient = worker(definition.getName(), true, task -> {
            sleep(8_000);
            return completed(task, Map.of());
        });
        Workflow end = house.working(1, List.of(patient), () -> house.ended(house.start(name, 1)));
        assertEquals(Workflow.WorkflowStatus.COMPLETED, end.getStatus());
        assertEquals(1, end.getTasks().size());
        assertEquals(1, end.getTasks().get(0).getPollCount());
    }

    @Test
    @DisplayName("06 a silent task loses its lease")
    void silence() throws Exception {
        TaskDef definition = taskDef(fresh("silent"));
        definition.setRetryCount(1);
        definition.setResponseTimeoutSeconds(1);
        house.metadata.registerTaskDefs(List.of(definition));
        String run = house.start(house.define(step(definition.getName(), "only")), 1);
        Task first = eventually("a task", () -> house.tasks.pollTask(definition.getName(), "hand", null));
        Task second = eventually("a second task", () -> house.tasks.pollTask(definition.getName(), "hand", null));
        assertNotEquals(first.getTaskId(), second.getTaskId());
        assertEquals(
                List.of(Task.Status.TIMED_OUT, Task.Status.IN_PROGRESS),
                house.run(run).getTasks().stream().map(Task::getStatus).toList());
    }

    @Test
    @DisplayName("06 a worker asks to be called back")
    void callback() throws Exception {
        String task = house.defineTask(fresh("patient"));
        String name = house.define(step(task, "only"));
        Worker patient = worker(task, false, polled -> {
            if (polled.getPollCount() < 3) {
                TaskResult later = new TaskResult(polled);
                later.setStatus(TaskResult.Status.IN_PROGRESS);
                later.setCallbackAfterSeconds(1);
                return later;
            }
            return completed(polled, Map.of("polls", polled.getPollCount()));
        });
        Workflow end = house.working(1, List.of(patient), () -> house.ended(house.start(name, 1)));
        assertEquals(Map.of("polls", 3), end.getTasks().get(0).getOutputData());
    }

    @Test
    @DisplayName("13 a child runs inside its parent")
    void child() throws Exception {
        String task = house.defineTask(fresh("add"));
        WorkflowDef parent = workflowDef(fresh("parent"), List.of(inside(threeSteps(task))));
        parent.setOutputParameters(Map.of("n", "${child.output.n}"));
        house.define(parent);
        List<Worker> workers = List.of(worker(task, false, WorkersTest::add));
        Workflow end = house.working(2, workers, () -> house.ended(house.start(parent.getName(), 10)));
        assertEquals(Workflow.WorkflowStatus.COMPLETED, end.getStatus());
        assertEquals(13, end.getOutput().get("n"));
        Workflow below = house.run(end.getTasks().get(0).getSubWorkflowId());
        assertEquals(end.getWorkflowId(), below.getParentWorkflowId());
    }

    @Test
    @DisplayName("13 a failed child is retried from its parent")
    void failedChild() throws Exception {
        String task = house.defineTask(fresh("below"));
        String run = house.start(house.define(inside(house.define(step(task, "work")))), 1);
        String below = eventually("the child", () -> house.run(run).getTasks().get(0).getSubWorkflowId());
        house.answer(below, "work", TaskResult.Status.FAILED);
        assertEquals(Workflow.WorkflowStatus.FAILED, house.ended(run).getStatus());
        house.workflows.retryLastFailedTask(run, true);
        house.answer(below, "work", TaskResult.Status.COMPLETED);
        assertEquals(Workflow.WorkflowStatus.COMPLETED, house.ended(run).getStatus());
    }

    private static WorkflowTask inside(String child) {
        WorkflowTask step = step(child, "child");
        step.setType("SUB_WORKFLOW");
        SubWorkflowParams below = new SubWorkflowParams();
        below.setName(child);
        below.setVersion(1);
        step.setSubWorkflowParam(below);
        return step;
    }

    private static void sleep(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
