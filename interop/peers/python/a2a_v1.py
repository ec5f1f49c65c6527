"""The client of a2a-sdk 1.x, told what to do (see a2a_driver), on the wire of the version that is the first argument."""
import asyncio
import base64
import sys

import httpx
from google.protobuf import json_format
from google.protobuf.struct_pb2 import Value
from a2a import types
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.utils.errors import JSON_RPC_ERROR_CODE_MAP

from a2a_driver import read, serve

VERSION = sys.argv[1]
clients = {}


def part(value):
    if "text" in value:
        return types.Part(text=value["text"])
    if "data" in value:
        return types.Part(data=json_format.ParseDict(value["data"], Value()))
    named = {"filename": value.get("name", ""), "media_type": value.get("mimeType", "")}
    if "uri" in value:
        return types.Part(url=value["uri"], **named)
    return types.Part(raw=base64.b64decode(value["bytes"]), **named)


def seen_part(value):
    kind = value.WhichOneof("content")
    if kind == "text":
        return {"text": value.text}
    if kind == "data":
        return {"data": json_format.MessageToDict(value.data)}
    content = {"uri": value.url} if kind == "url" else {"bytes": base64.b64encode(value.raw).decode()}
    return {
        **content, **({"name": value.filename} if value.filename else {}),
        **({"mimeType": value.media_type} if value.media_type else {}),
    }


def seen_parts(holder):
    return [seen_part(each) for each in holder.parts]


def state(value):
    return types.TaskState.Name(value).removeprefix("TASK_STATE_").lower().replace("_", "-")


def seen_task(task):
    return {
        "kind": "task", "id": task.id, "contextId": task.context_id, "state": state(task.status.state),
        "parts": seen_parts(task.status.message), "history": [seen_parts(each) for each in task.history],
        "artifacts": [seen_parts(each) for each in task.artifacts],
    }


ENDED = {"completed", "failed", "canceled", "rejected", "input-required"}


def seen(response):
    kind = response.WhichOneof("payload")
    if kind == "task":
        return seen_task(response.task)
    if kind == "message":
        return {"kind": "message", "parts": seen_parts(response.message)}
    if kind == "artifact_update":
        update = response.artifact_update
        return {
            "kind": "artifact-update", "id": update.task_id, "contextId": update.context_id, "parts": seen_parts(update.artifact),
            "name": update.artifact.name, "append": update.append, "last": update.last_chunk,
        }
    update = response.status_update
    return {
        "kind": "status-update", "id": update.task_id, "contextId": update.context_id, "state": state(update.status.state),
        "parts": seen_parts(update.status.message), "final": state(update.status.state) in ENDED,
    }


def request(message):
    configuration = types.SendMessageConfiguration(return_immediately=message.get("blocking") is False)
    if "history_length" in message:
        configuration.history_length = message["history_length"]
    sent = types.Message(
        role=types.Role.ROLE_USER, message_id=message["messageId"], task_id=message.get("taskId", ""),
        context_id=message.get("contextId", ""), parts=[part(each) for each in message["parts"]])
    if "metadata" in message:
        sent.metadata.update(message["metadata"])
    return types.SendMessageRequest(message=sent, configuration=configuration)


async def connect(message):
    http = httpx.AsyncClient(timeout=30)
    card = await A2ACardResolver(http, message["url"], message["path"]).get_agent_card()
    offered = [interface for interface in card.supported_interfaces if interface.protocol_version == VERSION]
    del card.supported_interfaces[:]
    card.supported_interfaces.extend(offered)
    for streaming in (False, True):
        clients[streaming] = ClientFactory(ClientConfig(streaming=streaming, httpx_client=http)).create(card)
    return {
        "name": card.name, "description": card.description, "version": card.version, "url": offered[0].url, "speaks": VERSION,
        "streaming": card.capabilities.streaming, "inputModes": list(card.default_input_modes),
        "skills": [skill.id for skill in card.skills], "extensions": [extension.uri for extension in card.capabilities.extensions],
    }


async def send(message):
    async for response in clients[False].send_message(request(message)):
        return seen(response)


async def events(stream):
    async for response in stream:
        yield seen(response)


async def stream(message):
    return await read(events(clients[True].send_message(request(message))), message)


async def resubscribe(message):
    return await read(events(clients[True].subscribe(types.SubscribeToTaskRequest(id=message["id"]))), message)


async def get(message):
    asked = types.GetTaskRequest(id=message["id"])
    if "history_length" in message:
        asked.history_length = message["history_length"]
    return seen_task(await clients[False].get_task(asked))


async def list_tasks(message):
    asked = types.ListTasksRequest(context_id=message["contextId"])
    return [seen_task(task) for task in (await clients[False].list_tasks(asked)).tasks]


async def cancel(message):
    return seen_task(await clients[False].cancel_task(types.CancelTaskRequest(id=message["id"])))


async def push(message):
    await clients[False].create_task_push_notification_config(
        types.TaskPushNotificationConfig(task_id=message["id"], url="https://kiln.example/hook"))


async def burst(message):
    return await asyncio.gather(*(send(each) for each in message["messages"]))


def explain(error):
    return JSON_RPC_ERROR_CODE_MAP.get(type(error))


functions = {step.__name__: step for step in (connect, send, stream, get, cancel, resubscribe, push, burst)}
asyncio.run(serve({**functions, "list": list_tasks}, explain))
