"""An agent of a2a-sdk that says all of protolabs-a2a's payloads, as its release does: protolabs_agent.py PORT PAYLOADS."""
import importlib.metadata
import json
import sys

import protolabs_a2a
import uvicorn
from a2a.helpers.proto_helpers import new_task_from_user_message
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentSkill, Part, TaskState
from google.protobuf.json_format import ParseDict
from starlette.applications import Starlette

PORT, PAYLOADS = sys.argv[1:3]
IN_PARTS = importlib.metadata.version("protolabs-a2a") == "0.2.1"
SAID = json.load(open(PAYLOADS, encoding="utf-8"))


def cost_arguments(cost):
    named = {"durationMs": "duration_ms", "costUsd": "cost_usd", "success": "success"}
    return {"usage": cost["usage"], **{named[key]: value for key, value in cost.items() if key in named}}


def tool_arguments(call):
    named = {"toolCallId": "tool_call_id"}
    return {named.get(key, key): value for key, value in call.items()}


def flat(part):
    """A part of the package as the wire has it, which is what its README asks of an executor."""
    content = part["content"]
    rest = {key: value for key, value in part.items() if key != "content"}
    return ParseDict({content["$case"]: content["value"], **rest}, Part())


def said():
    """Payloads by extension: parts for 0.2.1, metadata for 0.3.0."""
    package = protolabs_a2a
    cost = package.emit_cost if IN_PARTS else package.cost_metadata
    confidence = package.emit_confidence if IN_PARTS else package.confidence_metadata
    deltas = package.emit_worldstate_delta if IN_PARTS else package.worldstate_delta_metadata
    tool = package.emit_tool_call if IN_PARTS else package.tool_call_metadata
    return {
        "tools": [tool(**tool_arguments(call)) for call in SAID["toolCalls"]],
        "costs": [cost(**cost_arguments(each)) for each in SAID["costs"]],
        "confidence": confidence(**SAID["confidence"]),
        "deltas": deltas(SAID["deltas"]),
    }


class Executor(AgentExecutor):
    async def execute(self, context, event_queue):
        task = context.current_task or new_task_from_user_message(context.message)
        await event_queue.enqueue_event(task)
        updater = TaskUpdater(event_queue, task.id, task.context_id)
        payloads = said()
        first, last = payloads["costs"]
        for payload in [*payloads["tools"], first]:
            message = (
                updater.new_agent_message([flat(payload)])
                if IN_PARTS
                else updater.new_agent_message([], metadata=payload)
            )
            await updater.update_status(TaskState.TASK_STATE_WORKING, message)
        terminal = [last, payloads["confidence"], payloads["deltas"]]
        answer = [flat(protolabs_a2a.text_part(SAID["answer"]))]
        if IN_PARTS:
            await updater.add_artifact([*answer, *map(flat, terminal)], name="answer")
        else:
            metadata = protolabs_a2a.merge_extension_metadata(*terminal)
            await updater.add_artifact(answer, name="answer", metadata=metadata)
        await updater.complete()

    async def cancel(self, context, event_queue):
        raise NotImplementedError


card = protolabs_a2a.build_agent_card(
    name="quay",
    description="Says all that there is to say.",
    url=f"http://127.0.0.1:{PORT}/a2a",
    version="1.0.0",
    skills=[AgentSkill(id="berth", name="Berth", description="Finds a berth.", tags=["dock"])],
    bearer=True,
    push_notifications=False,
)
handler = DefaultRequestHandler(agent_executor=Executor(), task_store=InMemoryTaskStore(), agent_card=card)
app = Starlette(routes=[*create_agent_card_routes(card), *create_jsonrpc_routes(handler, "/a2a")])
uvicorn.run(app, host="127.0.0.1", port=int(PORT), log_level="warning")
