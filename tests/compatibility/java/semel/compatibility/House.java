package semel.compatibility;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.netflix.conductor.client.automator.TaskRunnerConfigurer;
import com.netflix.conductor.client.exception.ConductorClientException;
import com.netflix.conductor.client.http.ConductorClient;
import com.netflix.conductor.client.worker.Worker;
import com.netflix.conductor.common.metadata.tasks.Task;
import com.netflix.conductor.common.metadata.tasks.TaskDef;
import com.netflix.conductor.common.metadata.tasks.TaskResult;
import com.netflix.conductor.common.metadata.workflow.StartWorkflowRequest;
import com.netflix.conductor.common.metadata.workflow.WorkflowDef;
import com.netflix.conductor.common.metadata.workflow.WorkflowTask;
import com.netflix.conductor.common.run.Workflow;
import io.orkes.conductor.client.EnvironmentClient;
import io.orkes.conductor.client.OrkesClients;
import io.orkes.conductor.client.SecretClient;
import io.orkes.conductor.client.http.OrkesEventClient;
import io.orkes.conductor.client.http.OrkesMetadataClient;
import io.orkes.conductor.client.http.OrkesTaskClient;
import io.orkes.conductor.client.http.OrkesWorkflowClient;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.function.Executable;

/** The clients of one SDK user, and how a test waits for the server. */
final class House {
    static final String OPEN = System.getenv("SEMEL_URL");
    static final String MISSING = "00000000-0000-4000-8000-000000000000";
    private static final long DEADLINE_MS = 60_000;

    final ConductorClient client;
    final OrkesWorkflowClient workflows;
    final OrkesTaskClient tasks;
    final OrkesMetadataClient metadata;
    final SecretClient secrets;
    final EnvironmentClient environment;
    final OrkesEventClient events;

    House() {
        this(ConductorClient.builder().basePath(OPEN + "/api").build());
    }

    House(ConductorClient client) {
        this.client = client;
        OrkesClients clients = new OrkesClients(client);
        workflows = clients.getWorkflowClient();
        tasks = clients.getTaskClient();
        metadata = clients.getMetadataClient();
        secrets = clients.getSecretClient();
        environment = clients.getEnvironmentClient();
        events = clients.getEventClient();
    }

    /** A name that no other test uses. */
    static String fresh(String word) {
        return word + "_" + UUID.randomUUID().toString().substring(0, 8);
    }

    static TaskDef taskDef(String name) {
        TaskDef definition = new TaskDef(name);
        definition.setOwnerEmail("team@example.com");
        definition.setRetryCount(0);
        definition.setRetryDelaySeconds(0);
        definition.setTimeoutSeconds(300);
        definition.setResponseTimeoutSeconds(60);
        return definition;
    }

    static WorkflowTask step(String name, String reference) {
        WorkflowTask step = new WorkflowTask();
        step.setName(name);
        step.setTaskReferenceName(reference);
        step.setType("SIMPLE");
        step.setInputParameters(Map.of("n", "${workflow.input.n}"));
        return step;
    }

    static WorkflowDef workflowDef(String name, List<WorkflowTask> steps) {
        WorkflowDef definition = new WorkflowDef();
        definition.setName(name);
        definition.setVersion(1);
        definition.setOwnerEmail("team@example.com");
        definition.setTasks(steps);
        return definition;
    }

    /** Registers a workflow of these steps and returns its name. */
    String define(WorkflowTask... steps) {
        return define(workflowDef(fresh("workflow"), List.of(steps)));
    }

    String define(WorkflowDef definition) {
        metadata.registerWorkflowDef(definition, true);
        return definition.getName();
    }

    /** Registers a task of this name, and returns the name. */
    String defineTask(String name) {
        metadata.registerTaskDefs(List.of(taskDef(name)));
        return name;
    }

    static StartWorkflowRequest request(String name, int n) {
        return new StartWorkflowRequest().withName(name).withVersion(1).withInput(Map.of("n", n));
    }

    String start(String name, int n) {
        return workflows.startWorkflow(request(name, n));
    }

    Workflow run(String id) {
        return workflows.getWorkflow(id, true);
    }

    Workflow ended(String id) throws Exception {
        return eventually("the end of " + id, () -> {
            Workflow seen = run(id);
            return seen.getStatus().isTerminal() ? seen : null;
        });
    }

    /** The last attempt at this step, once it has this status. */
    Task reached(String id, String reference, Task.Status status) throws Exception {
        return eventually(reference + " of " + id + " to be " + status, () -> run(id).getTasks().stream()
                .filter(task -> task.getReferenceTaskName().equals(reference))
                .reduce((first, second) -> second)
                .filter(task -> task.getStatus() == status)
                .orElse(null));
    }

    void answer(String id, String reference, TaskResult.Status status) throws Exception {
        reached(id, reference, Task.Status.SCHEDULED);
        tasks.updateTask(id, reference, status, Map.of("by", "hand"));
    }

    /** What `look` gives once it is something. */
    static <T> T eventually(String what, Callable<T> look) throws Exception {
        long deadline = System.currentTimeMillis() + DEADLINE_MS;
        while (true) {
            T seen = look.call();
            if (seen != null) {
                return seen;
            }
            assertTrue(System.currentTimeMillis() < deadline, () -> "waited too long for " + what);
            Thread.sleep(50);
        }
    }

    /** The call is refused with this status. */
    static ConductorClientException refused(int status, Executable call) {
        ConductorClientException refusal = assertThrows(ConductorClientException.class, call);
        assertEquals(status, refusal.getStatus(), refusal.toString());
        return refusal;
    }

    /** The SDK's own runner with so many threads per worker, while `work` is done. */
    <T> T working(int threads, List<Worker> workers, Callable<T> work) throws Exception {
        TaskRunnerConfigurer runner = new TaskRunnerConfigurer.Builder(tasks, workers)
                .withThreadCount(threads)
                .withShutdownGracePeriodSeconds(2)
                .build();
        runner.init();
        try {
            return work.call();
        } finally {
            runner.shutdown();
        }
    }
}
