package semel.compatibility;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static semel.compatibility.House.fresh;
import static semel.compatibility.House.refused;
import static semel.compatibility.House.step;

import com.netflix.conductor.client.http.ConductorClient;
import com.netflix.conductor.client.worker.Worker;
import com.netflix.conductor.common.metadata.tasks.TaskResult;
import com.netflix.conductor.common.run.Workflow;
import io.orkes.conductor.client.ApiClient;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Scenarios 14 and 15: with authentication, and credentials where there is none. */
@ExtendWith(OneLine.class)
class AuthenticationTest {
    @Test
    @DisplayName("15 an open server takes credentials for nothing")
    void open() {
        House house = new House(new ApiClient(House.OPEN + "/api", "key", "secret"));
        assertNotNull(house.start(house.define(step("one", "one")), 1));
    }

    @Nested
    class WithAuthentication {
        private final String url = System.getenv("SEMEL_AUTH_URL");
        private final String key = System.getenv("SEMEL_AUTH_KEY");
        private final String secret = System.getenv("SEMEL_AUTH_SECRET");

        @BeforeEach
        void thereIsOne() {
            assertNotNull(url, "there is no server with authentication");
        }

        private House guarded() {
            return new House(new ApiClient(url + "/api", key, secret));
        }

        private void outliveTheToken() throws InterruptedException {
            Thread.sleep(1000L * (Long.parseLong(System.getenv("SEMEL_TOKEN_SECONDS")) + 1));
        }

        @Test
        @DisplayName("14 a key and its secret open the door")
        void opens() {
            House house = guarded();
            String run = house.start(house.define(step("one", "one")), 1);
            assertEquals(Workflow.WorkflowStatus.RUNNING, house.run(run).getStatus());
        }

        @Test
        @DisplayName("14 an expired token is replaced")
        void expired() throws Exception {
            House house = guarded();
            String name = house.define(step("one", "one"));
            outliveTheToken();
            assertNotNull(house.start(name, 1));
        }

        @Test
        @DisplayName("14 workers outlive their tokens")
        void workers() throws Exception {
            House house = guarded();
            String task = house.defineTask(fresh("work"));
            String name = house.define(step(task, "only"));
            List<Worker> workers = List.of(Worker.create(task, polled -> {
                TaskResult result = new TaskResult(polled);
                result.setStatus(TaskResult.Status.COMPLETED);
                return result;
            }));
            house.working(2, workers, () -> {
                assertEquals(Workflow.WorkflowStatus.COMPLETED, house.ended(house.start(name, 1)).getStatus());
                outliveTheToken();
                assertEquals(Workflow.WorkflowStatus.COMPLETED, house.ended(house.start(name, 2)).getStatus());
                return null;
            });
        }

        @Test
        @DisplayName("14 a wrong secret does not")
        void wrong() {
            assertThrows(RuntimeException.class, () -> {
                House house = new House(new ApiClient(url + "/api", key, "wrong"));
                house.start("any", 1);
            });
        }

        @Test
        @DisplayName("14 nothing is told without a token")
        void none() {
            House house = new House(ConductorClient.builder().basePath(url + "/api").build());
            refused(401, () -> house.workflows.search("*"));
        }
    }
}
