# It can be registered, because a run may never get there; one that does is told what to do instead.
define-json {"name": "letter", "tasks": [
    {"name": "draft", "taskReferenceName": "draft", "type": "LLM_TEXT_COMPLETE", "optional": true, "retryCount": 3, "inputParameters": {"prompt": "hello"}},
    {"name": "query", "taskReferenceName": "query", "type": "JDBC", "retryCount": 3}]}
start    hello = letter
show     hello
> FAILED  letter
>   COMPLETED_WITH_ERRORS       draft  attempt 0  because task type LLM_TEXT_COMPLETE is not in this release: give the step a type of your own and let a worker do it
>   FAILED_WITH_TERMINAL_ERROR  query  attempt 0  because task type JDBC is not in this release: give the step a type of your own and let a worker do it
# None of the types of Conductor and Orkes waits for a worker that never comes.
define-json {"name": "look", "tasks": [
    {"name": "find", "taskReferenceName": "find", "type": "GET_WORKFLOW", "optional": true, "inputParameters": {"id": "x"}},
    {"name": "send", "taskReferenceName": "send", "type": "KAFKA_PUBLISH", "inputParameters": {"kafka_request": {"topic": "t"}}}]}
start    there = look
show     there
> FAILED  look
>   COMPLETED_WITH_ERRORS       find  attempt 0  because task type GET_WORKFLOW is not in this release: give the step a type of your own and let a worker do it
>   FAILED_WITH_TERMINAL_ERROR  send  attempt 0  because task type KAFKA_PUBLISH is not in this release: give the step a type of your own and let a worker do it
