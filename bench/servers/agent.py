"""The agents that ours are compared with: `PORT sdk` is the A2A SDK for Python by itself, `PORT reference` the reference on top of it."""
import sys

PORT = int(sys.argv[1])
LISTEN = {"host": "127.0.0.1", "port": PORT, "log_level": "warning"}


def told(text: str) -> int:
    """The number behind the first word of what was said."""
    words = text.split(" ")
    return int(words[1]) if len(words) > 1 else 0


def serve_sdk() -> None:
    import uvicorn
    from a2a.server.agent_execution import AgentExecutor, RequestContext
    from a2a.server.apps import A2AStarletteApplication
    from a2a.server.events import EventQueue
    from a2a.server.request_handlers import DefaultRequestHandler
    from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
    from a2a.types import AgentCapabilities, AgentCard, Part, TaskState, TextPart
    from a2a.utils import new_agent_text_message, new_task

    class Desk(AgentExecutor):
        async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
            task = context.current_task or new_task(context.message)
            await event_queue.enqueue_event(task)
            updater = TaskUpdater(event_queue, task.id, task.context_id)
            count = told(context.get_user_input())
            await updater.start_work()
            for n in range(count):
                message = new_agent_text_message(f"step {n}", task.context_id, task.id)
                await updater.update_status(TaskState.working, message, metadata={"n": n})
            if count == 0:
                answer = Part(root=TextPart(text="three parcels are on the shelf"))
                await updater.add_artifact([answer], name="answer")
            await updater.complete(new_agent_text_message("done", task.context_id, task.id))

        async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
            raise NotImplementedError

    card = AgentCard(
        name="Parcel Desk", description="Keeps a desk.", version="1.0.0", url=f"http://127.0.0.1:{PORT}/a2a", skills=[],
        capabilities=AgentCapabilities(streaming=True), default_input_modes=["text"], default_output_modes=["text"])
    handler = DefaultRequestHandler(agent_executor=Desk(), task_store=InMemoryTaskStore())
    app = A2AStarletteApplication(agent_card=card, http_handler=handler).build(rpc_url="/a2a")
    uvicorn.run(app, **LISTEN)


def serve_reference() -> None:
    from agentenv_protocol.a2a_agent import (
        MCP_CONFIG_V1, TRAJECTORY_V1, TRIGGERS_V1, AgentConfig, AgentEnvAgent, AgentIdentity, TaskRequest, TaskResult,
        a2a_agent, enable,
    )

    class DeskConfig(AgentConfig):
        model: str = "kestrel-1"
        harness: str = "default"

    @a2a_agent(
        identity=AgentIdentity(name="Parcel Desk", description="Keeps a desk.", version="1.0.0"),
        config=DeskConfig, extensions=(MCP_CONFIG_V1, TRIGGERS_V1, enable(TRAJECTORY_V1, live=True)))
    class Desk(AgentEnvAgent):
        async def run(self, request: TaskRequest[DeskConfig]) -> TaskResult:
            count = told(request.parts[0].text)
            if count > 0:
                request.trajectory.set_format("desk-events/1")
            for index in range(count):
                request.trajectory.append({"kind": "step", "index": index, "text": f"looks at shelf {index}"})
            return TaskResult.text("done")

    Desk().serve(**LISTEN)


if __name__ == "__main__":
    {"sdk": serve_sdk, "reference": serve_reference}[sys.argv[2]]()
