"""The client of a2a-sdk 0.3, told what to do (see a2a_driver)."""
import asyncio

import httpx
from a2a import types
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.client.errors import A2AClientJSONRPCError

from a2a_driver import read, serve

clients = {}


def part(value):
    if "text" in value:
        return types.Part(root=types.TextPart(text=value["text"]))
    if "data" in value:
        return types.Part(root=types.DataPart(data=value["data"]))
    kind = types.FileWithBytes if "bytes" in value else types.FileWithUri
    return types.Part(root=types.FilePart(file=kind.model_validate({key: value[key] for key in value})))


def seen_part(value):
    root = value.root
    if root.kind == "text":
        return {"text": root.text}
    if root.kind == "data":
        return {"data": root.data}
    return root.file.model_dump(mode="json", by_alias=True, exclude_none=True)


def seen_message(message):
    return [] if message is None else [seen_part(each) for each in message.parts]


def seen_task(task):
    return {
        "kind": "task", "id": task.id, "contextId": task.context_id, "state": task.status.state.value,
        "parts": seen_message(task.status.message), "history": [seen_message(each) for each in task.history or []],
        "artifacts": [[seen_part(each) for each in artifact.parts] for artifact in task.artifacts or []],
    }


def seen(event):
    if isinstance(event, types.Message):
        return {"kind": "message", "parts": seen_message(event)}
    task, update = event
    if update is None:
        return seen_task(task)
    if isinstance(update, types.TaskArtifactUpdateEvent):
        return {
            "kind": "artifact-update", "id": update.task_id, "contextId": update.context_id,
            "parts": [seen_part(each) for each in update.artifact.parts], "name": update.artifact.name,
            "append": bool(update.append), "last": bool(update.last_chunk),
        }
    return {
        "kind": "status-update", "id": update.task_id, "contextId": update.context_id, "state": update.status.state.value,
        "parts": seen_message(update.status.message), "final": update.final,
    }


def request(message):
    return types.Message(
        role=types.Role.user, message_id=message["messageId"], task_id=message.get("taskId"), context_id=message.get("contextId"),
        parts=[part(each) for each in message["parts"]], metadata=message.get("metadata"),
    )


def configuration(message):
    given = {name: message[name] for name in ("blocking", "history_length") if name in message}
    return types.MessageSendConfiguration(**given) if given else None


async def connect(message):
    http = httpx.AsyncClient(timeout=30)
    resolver = A2ACardResolver(http, message["url"], message["path"])
    card = await resolver.get_agent_card()
    for streaming in (False, True):
        clients[streaming] = ClientFactory(ClientConfig(streaming=streaming, httpx_client=http)).create(card)
    return {
        "name": card.name, "description": card.description, "version": card.version, "url": card.url,
        "speaks": card.protocol_version, "streaming": card.capabilities.streaming, "inputModes": card.default_input_modes,
        "skills": [skill.id for skill in card.skills],
        "extensions": [extension.uri for extension in card.capabilities.extensions or []],
    }


async def send(message):
    async for event in clients[False].send_message(request(message), configuration=configuration(message)):
        return seen(event)


async def events(stream):
    async for event in stream:
        yield seen(event)


async def stream(message):
    return await read(events(clients[True].send_message(request(message))), message)


async def resubscribe(message):
    return await read(events(clients[True].resubscribe(types.TaskIdParams(id=message["id"]))), message)


async def get(message):
    return seen_task(await clients[False].get_task(types.TaskQueryParams(id=message["id"], history_length=message.get("history_length"))))


async def cancel(message):
    return seen_task(await clients[False].cancel_task(types.TaskIdParams(id=message["id"])))


async def push(message):
    await clients[False].set_task_callback(types.TaskPushNotificationConfig(
        task_id=message["id"], push_notification_config=types.PushNotificationConfig(url="https://kiln.example/hook")))


async def burst(message):
    return await asyncio.gather(*(send(each) for each in message["messages"]))


def explain(error):
    return error.error.code if isinstance(error, A2AClientJSONRPCError) else None


functions = {step.__name__: step for step in (connect, send, stream, get, cancel, resubscribe, push, burst)}
asyncio.run(serve(functions, explain))
