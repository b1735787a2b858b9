package compatibility

import (
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/conductor-sdk/conductor-go/sdk/authentication"
	"github.com/conductor-sdk/conductor-go/sdk/client"
	"github.com/conductor-sdk/conductor-go/sdk/model"
	"github.com/conductor-sdk/conductor-go/sdk/settings"
)

// Scenario 14: with authentication. The SDK does not read why a token was rejected: it asks for a new one
// when its own timer says so, which is set below the lifetime of a token here.
func TestAuthentication(t *testing.T) {
	address, key, secret := os.Getenv("SEMEL_AUTH_URL"), os.Getenv("SEMEL_AUTH_KEY"), os.Getenv("SEMEL_AUTH_SECRET")
	if address == "" {
		t.Run("14 there is a server with authentication", func(t *testing.T) { t.Fatal("there is none") })
		return
	}
	place := settings.NewHttpSettings(address + "/api")
	guarded := func(secret string) house {
		expiration := authentication.NewTokenExpiration(time.Second, time.Second)
		return enter(client.NewAPIClientWithTokenExpiration(
			settings.NewAuthenticationSettings(key, secret), place, expiration))
	}
	t.Run("14 a key and its secret open the door", func(t *testing.T) {
		h := guarded(secret)
		run := h.start(t, h.define(t, step("one", "one")), 1)
		equal(t, model.RunningWorkflow, h.run(t, run).Status)
	})
	t.Run("14 workers outlive their tokens", func(t *testing.T) {
		h := guarded(secret)
		lifetime, err := strconv.Atoi(os.Getenv("SEMEL_TOKEN_SECONDS"))
		must(t, err)
		task := h.defineTask(t, "add", nil)
		name := h.threeSteps(t, task)
		h.working(t, task, 2, add)
		equal(t, model.CompletedWorkflow, h.ended(t, h.start(t, name, 1)).Status)
		time.Sleep(time.Duration(lifetime+1) * time.Second)
		equal(t, model.CompletedWorkflow, h.ended(t, h.start(t, name, 2)).Status)
	})
	t.Run("14 a wrong secret does not", func(t *testing.T) {
		_, err := guarded("wrong").executor.StartWorkflow(request("any", 1))
		refused(t, 401, err)
	})
	t.Run("14 nothing is told without a token", func(t *testing.T) {
		_, err := enter(client.NewAPIClient(nil, place)).executor.Search(0, 1, "", "*")
		refused(t, 401, err)
	})
}

// Scenario 15: credentials where there is no authentication.
func TestOpen(t *testing.T) {
	t.Run("15 an open server takes credentials for nothing", func(t *testing.T) {
		place := settings.NewHttpSettings(os.Getenv("SEMEL_URL") + "/api")
		h := enter(client.NewAPIClient(settings.NewAuthenticationSettings("key", "secret"), place))
		h.start(t, h.define(t, step("one", "one")), 1)
	})
}
