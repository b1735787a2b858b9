package compatibility

import (
	"testing"

	"github.com/conductor-sdk/conductor-go/sdk/model"
)

// Scenario 12: tags, secrets, the environment and event handlers.
func TestSettings(t *testing.T) {
	h := open()
	t.Run("12 definitions are tagged", func(t *testing.T) {
		tags := []model.MetadataTag{{Key: "team", Value: "a"}}
		definition := workflowDef(fresh("workflow"), step("one", "one"))
		// The SDK sends tags inside the definition.
		_, err := h.metadata.RegisterWorkflowDefWithTags(ctx, true, definition, tags)
		must(t, err)
		seen, err := h.metadata.GetTagsForWorkflowDef(ctx, definition.Name)
		must(t, err)
		equal(t, "a", seen[0].Value)
		task := taskDef(fresh("task"))
		_, err = h.metadata.RegisterTaskDefWithTags(ctx, task, tags)
		must(t, err)
		seen, err = h.metadata.GetTagsForTaskDef(ctx, task.Name)
		must(t, err)
		equal(t, "team", seen[0].Key)
		must(t, h.executor.UpdateWorkflowTags(definition.Name, map[string]string{"tier": "1"}))
		all, err := h.executor.GetWorkflowTags(definition.Name)
		must(t, err)
		equal(t, "1", all["tier"])
		must(t, h.executor.DeleteWorkflowTags(definition.Name, map[string]string{"tier": "1"}))
	})
	t.Run("12 secrets are kept", func(t *testing.T) {
		key := fresh("secret")
		_, _, err := h.secrets.PutSecret(ctx, "s3\"cret", key)
		must(t, err)
		value, _, err := h.secrets.GetSecret(ctx, key)
		must(t, err)
		equal(t, "s3\"cret", value)
		names, _, err := h.secrets.ListAllSecretNames(ctx)
		must(t, err)
		equal(t, true, contains(names, key))
		granted, _, err := h.secrets.ListSecretsThatUserCanGrantAccessTo(ctx)
		must(t, err)
		equal(t, true, contains(granted, key))
		_, err = h.secrets.PutTagForSecret(ctx, []model.Tag{{Key: "team", Value: "a", Type_: "METADATA"}}, key)
		must(t, err)
		tags, _, err := h.secrets.GetTags(ctx, key)
		must(t, err)
		equal(t, "a", tags[0].Value)
		_, _, err = h.secrets.DeleteSecret(ctx, key)
		must(t, err)
		exists, _, err := h.secrets.SecretExists(ctx, key)
		must(t, err)
		equal(t, false, exists.(bool))
	})
	t.Run("12 the environment is kept", func(t *testing.T) {
		key := fresh("variable")
		_, err := h.environment.CreateOrUpdateEnvVariable(ctx, "some value", key)
		must(t, err)
		value, _, err := h.environment.Get(ctx, key)
		must(t, err)
		equal(t, "some value", value)
		_, _, err = h.environment.GetAll(ctx)
		must(t, err)
		_, _, err = h.environment.DeleteEnvVariable(ctx, key)
		must(t, err)
	})
	t.Run("12 event handlers start runs", func(t *testing.T) {
		target, source := h.define(t, step(fresh("nobody"), "only")), fresh("source")
		start := &model.StartWorkflow{Name: target, Version: 1, Input: map[string]interface{}{"n": "${n}"}}
		handler := model.EventHandler{
			Name: fresh("handler"), Event: "conductor:" + source + ":tell", Active: true,
			Actions: []model.Action{{Action: "start_workflow", StartWorkflow: start}},
		}
		_, err := h.events.AddEventHandler(ctx, handler)
		must(t, err)
		_, err = h.events.AddEventHandler(ctx, handler)
		refused(t, 409, err)
		tell := step("tell", "tell")
		tell.Type_, tell.Sink = "EVENT", "conductor"
		_, err = h.metadata.RegisterWorkflowDef(ctx, true, workflowDef(source, tell))
		must(t, err)
		h.ended(t, h.start(t, source, 42))
		eventually(t, "the run of the handler", func() bool {
			running, _, err := h.workflows.GetRunningWorkflow(ctx, target, nil)
			must(t, err)
			return len(running) == 1 && h.run(t, running[0]).Input["n"].(float64) == 42
		})
		seen, _, err := h.events.GetEventHandlersForEvent(ctx, handler.Event, nil)
		must(t, err)
		equal(t, handler.Name, seen[0].Name)
		_, err = h.events.UpdateEventHandler(ctx, handler)
		must(t, err)
		_, err = h.events.RemoveEventHandler(ctx, handler.Name)
		must(t, err)
		all, _, err := h.events.GetEventHandlers(ctx)
		must(t, err)
		for _, each := range all {
			equal(t, false, each.Name == handler.Name)
		}
	})
}

func contains(names []string, name string) bool {
	for _, each := range names {
		if each == name {
			return true
		}
	}
	return false
}
