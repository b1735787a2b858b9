"""Functions that workers run. They live in a module because the runner starts them in processes."""

import asyncio
import time
from typing import List

from conductor.client.context.task_context import TaskInProgress, get_task_context
from conductor.client.worker.exception import NonRetryableException
from conductor.client.workflow.task.simple_task import SimpleTask


def add(n: int) -> dict:
    get_task_context().add_log(f"adding to {n}")
    return {"n": n + 1}


def plan(task: str, numbers: List[int]) -> dict:
    """One step for each number, and what each is given."""
    references = [f"each_{number}" for number in numbers]
    return {
        "steps": [SimpleTask(task, reference).to_workflow_task() for reference in references],
        "inputs": {reference: {"n": number} for reference, number in zip(references, numbers)},
    }


async def add_later(n: int) -> dict:
    await asyncio.sleep(0.01)
    return {"n": n + 1}


def fail_twice(n: int) -> dict:
    attempt = get_task_context().get_retry_count()
    if attempt < 2:
        raise RuntimeError(f"attempt {attempt} of {n} failed")
    return {"attempt": attempt}


def give_up(n: int) -> dict:
    raise NonRetryableException(f"{n} can never work")


def take_long(seconds: float) -> dict:
    time.sleep(seconds)
    return {"polls": get_task_context().get_poll_count()}


def come_back(n: int):
    polls = get_task_context().get_poll_count()
    if polls < 3:
        return TaskInProgress(callback_after_seconds=1, output={"polls": polls})
    return {"polls": polls}
