package semel.compatibility;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static semel.compatibility.House.eventually;
import static semel.compatibility.House.fresh;
import static semel.compatibility.House.refused;
import static semel.compatibility.House.step;
import static semel.compatibility.House.workflowDef;

import com.netflix.conductor.common.metadata.events.EventHandler;
import com.netflix.conductor.common.metadata.workflow.WorkflowTask;
import io.orkes.conductor.client.model.Tag;
import io.orkes.conductor.client.model.TagObject;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Scenario 12: tags, secrets, the environment and event handlers. */
@ExtendWith(OneLine.class)
class SettingsTest {
    private final House house = new House();

    private static TagObject tag(String key, String value) {
        return new TagObject().type(TagObject.TypeEnum.METADATA).key(key).value(value);
    }

    private static List<String> pairs(List<TagObject> tags) {
        return tags.stream().map(each -> each.getKey() + "=" + each.getValue()).sorted().toList();
    }

    @Test
    @DisplayName("12 workflows are tagged")
    void workflowTags() {
        // `setWorkflowTags` of the SDK is a GET with a body, which no server can answer; see the README.
        String name = house.define(step("one", "one"));
        house.metadata.addWorkflowTag(tag("team", "a"), name);
        house.metadata.addWorkflowTag(tag("tier", "1"), name);
        assertEquals(List.of("team=a", "tier=1"), pairs(house.metadata.getWorkflowTags(name)));
        house.metadata.deleteWorkflowTag(tag("tier", "1"), name);
        assertEquals(List.of("team=a"), pairs(house.metadata.getWorkflowTags(name)));
    }

    @Test
    @DisplayName("12 tasks are tagged")
    void taskTags() {
        String name = house.defineTask(fresh("task"));
        house.metadata.addTaskTag(tag("team", "a"), name);
        house.metadata.setTaskTags(List.of(tag("tier", "2")), name);
        assertEquals(List.of("tier=2"), pairs(house.metadata.getTaskTags(name)));
    }

    @Test
    @DisplayName("12 secrets are kept")
    void secrets() {
        String key = fresh("secret");
        house.secrets.putSecret("s3\"cret", key);
        assertEquals("s3\"cret", house.secrets.getSecret(key));
        assertTrue(house.secrets.secretExists(key));
        assertTrue(house.secrets.listAllSecretNames().contains(key));
        assertTrue(house.secrets.listSecretsThatUserCanGrantAccessTo().contains(key));
        house.secrets.setSecretTags(List.of(tag("team", "a")), key);
        assertEquals(List.of("team=a"), pairs(house.secrets.getSecretTags(key)));
        house.secrets.deleteSecretTags(List.of(tag("team", "a")), key);
        assertTrue(house.secrets.getSecretTags(key).isEmpty());
        house.secrets.deleteSecret(key);
        assertFalse(house.secrets.secretExists(key));
    }

    @Test
    @DisplayName("12 the environment is kept")
    void environment() {
        String key = fresh("variable");
        house.environment.createOrUpdateEnvironmentVariable(key, "some value");
        assertEquals("some value", house.environment.getEnvironmentVariable(key));
        assertTrue(house.environment.getAllEnvironmentVariables().stream().anyMatch(each -> each.getName().equals(key)));
        Tag tag = new Tag();
        tag.setKey("team");
        tag.setValue("a");
        house.environment.setEnvironmentVariableTags(key, List.of(tag));
        assertEquals("a", house.environment.getEnvironmentVariableTags(key).get(0).getValue());
        house.environment.deleteEnvironmentVariableTags(key, List.of(tag));
        house.environment.deleteEnvironmentVariable(key);
        assertFalse(house.environment.getAllEnvironmentVariables().stream().anyMatch(each -> each.getName().equals(key)));
    }

    @Test
    @DisplayName("12 event handlers start runs")
    void events() throws Exception {
        String target = house.define(step(fresh("nobody"), "only"));
        String source = fresh("source");
        String event = "conductor:" + source + ":tell";
        EventHandler.StartWorkflow start = new EventHandler.StartWorkflow();
        start.setName(target);
        start.setVersion(1);
        start.setInput(Map.of("n", "${n}"));
        EventHandler.Action action = new EventHandler.Action();
        action.setAction(EventHandler.Action.Type.start_workflow);
        action.setStart_workflow(start);
        EventHandler handler = new EventHandler();
        handler.setName(fresh("handler"));
        handler.setEvent(event);
        handler.setActions(List.of(action));
        handler.setActive(true);
        house.events.registerEventHandler(handler);
        refused(409, () -> house.events.registerEventHandler(handler));
        assertTrue(house.events.getEventHandlers().stream().anyMatch(each -> each.getName().equals(handler.getName())));
        assertEquals(1, house.events.getEventHandlers(event, true).size());
        WorkflowTask tell = step("tell", "tell");
        tell.setType("EVENT");
        tell.setSink("conductor");
        house.define(workflowDef(source, List.of(tell)));
        house.ended(house.start(source, 42));
        String started = eventually("the run of the handler", () ->
                house.workflows.getRunningWorkflow(target, 1).stream().findFirst().orElse(null));
        assertEquals(42, house.run(started).getInput().get("n"));
        handler.setActive(false);
        house.events.updateEventHandler(handler);
        assertTrue(house.events.getEventHandlers(event, true).isEmpty());
        house.events.unregisterEventHandler(handler.getName());
        assertTrue(house.events.getEventHandlers(event, false).isEmpty());
    }
}
