# A script for another engine fails with a word on what to use instead.
define-json {"name": "java", "tasks": [
    {"name": "old", "taskReferenceName": "old", "type": "INLINE", "inputParameters": {"expression": "Java.type('java.util.Date')"}}]}
start    one = java
show     one
> FAILED  java  {"error":"Java is not available at line 1: scripts are plain JavaScript; use its own Date, Math, JSON, Map and Set instead"}  because Task # failed with status: FAILED and reason: 'Java is not available at line 1: scripts are plain JavaScript; use its own Date, Math, JSON, Map and Set instead'
>   FAILED_WITH_TERMINAL_ERROR  old  attempt 0  from {"expression":"Java.type('java.util.Date')"}  {"error":"Java is not available at line 1: scripts are plain JavaScript; use its own Date, Math, JSON, Map and Set instead"}  because Java is not available at line 1: scripts are plain JavaScript; use its own Date, Math, JSON, Map and Set instead
