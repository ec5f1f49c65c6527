"""The reference's triggers as a program that is told what to do: a line of JSON in, a line of JSON out.

A line is `{"steps": [[operation, payload], ...], "hastily": bool}` for an engine of its own; every step is answered with
`{"value": ...}` or `{"status": ..., "message": ...}`.
"""
import json
import sys

from agentenv_protocol.a2a_agent import TriggerDecideRequest, TriggerRegisterRequest
from agentenv_protocol.a2a_agent._triggers import TriggerEngine, TriggerError
from pydantic import ValidationError


def perform(engine, operation, payload):
    if operation == "state":
        return engine.state()
    if operation == "register":
        return engine.register(TriggerRegisterRequest.model_validate(payload).model_dump(mode="python"))
    request = TriggerDecideRequest.model_validate(payload)
    return engine.decide(
        turn=request.turn,
        solver_message=request.solver_message,
        context_id=request.context_id,
        env_triggers=request.env_triggers,
    )


def answer(engine, operation, payload):
    try:
        return {"value": perform(engine, operation, payload)}
    except TriggerError as error:
        return {"status": error.status_code, "message": str(error)}
    except ValidationError as error:
        return {"status": 400, "message": error.json(include_input=False, include_url=False)}


for line in sys.stdin:
    script = json.loads(line)
    engine = TriggerEngine(regex_budget_seconds=1.0 if script["hastily"] else 20.0)
    print(json.dumps([answer(engine, *step) for step in script["steps"]]), flush=True)
