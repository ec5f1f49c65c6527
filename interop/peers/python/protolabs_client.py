"""What protolabs-a2a reads of our agent, through a2a-sdk's own client: protolabs_client.py URL KEY PAYLOADS."""
import asyncio
import importlib.metadata
import json
import sys

import httpx
import protolabs_a2a
from a2a.client import ClientConfig, create_client
from a2a.client.auth import AuthInterceptor, InMemoryContextCredentialStore
from a2a.client.client import ClientCallContext
from a2a.types import GetTaskRequest, Message, Part, Role, SendMessageRequest
from google.protobuf.json_format import MessageToDict

from check import check, done, equal, truthy

URL, KEY, PAYLOADS = sys.argv[1:4]
RELEASE = importlib.metadata.version("protolabs-a2a")
IN_PARTS = RELEASE == "0.2.1"
SENT = json.load(open(PAYLOADS, encoding="utf-8"))


def holders(event):
    """Messages and artifacts, as the wire has them, in the order in which they are said: the package reads nothing else."""
    for update in (event.get("task", {}), event.get("statusUpdate", {}), event.get("artifactUpdate", {})):
        yield from update.get("history", [])
        yield update.get("status", {}).get("message", {})
        yield update.get("artifact", {})
        yield from update.get("artifacts", [])


def read(events, parse):
    """Every payload, by the package's own reader: of each part for 0.2.1, of each metadata map for 0.3.0."""
    found = []
    for event in events:
        for holder in holders(event):
            sources = holder.get("parts", []) if IN_PARTS else [holder.get("metadata", {})]
            found += [payload for payload in map(parse, sources) if payload is not None]
    return found


async def client_for(http, scheme, credential):
    store = InMemoryContextCredentialStore()
    if credential is not None:
        await store.set_credentials("session", scheme, credential)
    client = await create_client(
        URL, client_config=ClientConfig(httpx_client=http), interceptors=[AuthInterceptor(store)]
    )
    return client, ClientCallContext(state={"sessionId": "session"})


async def ask(client, context):
    carrier = "dataPart" if IN_PARTS else "metadata"
    message = Message(message_id=f"ask-{RELEASE}-{id(context)}", role=Role.ROLE_USER, parts=[Part(text=carrier)])
    request = SendMessageRequest(message=message)
    return [MessageToDict(event) async for event in client.send_message(request, context=context)]


async def main():
    async with httpx.AsyncClient(trust_env=False, timeout=20) as http:
        async with check(f"{RELEASE}: the SDK takes the schemes and extensions from the card"):
            card = (await http.get(f"{URL}/.well-known/agent-card.json")).json()
            declared = [extension["uri"] for extension in card["capabilities"]["extensions"]]
            truthy(set(protolabs_a2a.ALL_EXTENSION_URIS) <= set(declared), f"declared {declared}")
        events = []
        async with check(f"{RELEASE}: gets in with the API key that the card asks for"):
            events = await ask(*await client_for(http, "apiKey", KEY))
            truthy(events, "no events")
        async with check(f"{RELEASE}: gets in with the bearer token too"):
            truthy(await ask(*await client_for(http, "bearer", f"{KEY}-token")), "no events")
        async with check(f"{RELEASE}: doesn't get in without, or with another key"):
            for credential in (None, "guess"):
                try:
                    await ask(*await client_for(http, "apiKey", credential))
                except Exception as error:
                    truthy("401" in str(error), str(error))
                else:
                    raise AssertionError("it got in")
        async with check(f"{RELEASE}: parse_cost reads each cost once"):
            equal(read(events, protolabs_a2a.parse_cost), SENT["costs"])
        async with check(f"{RELEASE}: parse_confidence"):
            equal(read(events, protolabs_a2a.parse_confidence), [SENT["chart"], SENT["confidence"]])
        async with check(f"{RELEASE}: parse_worldstate_delta"):
            equal(read(events, protolabs_a2a.parse_worldstate_delta), [{"deltas": SENT["deltas"]}])
        async with check(f"{RELEASE}: parse_tool_call reads each phase once"):
            equal(read(events, protolabs_a2a.parse_tool_call), SENT["toolCalls"])
        async with check(f"{RELEASE}: read_text reads the answer"):
            parts = events[-1]["statusUpdate"]["status"]["message"]["parts"]
            equal([text for text in map(protolabs_a2a.read_text, parts) if text is not None], [SENT["answer"]])
        async with check(f"{RELEASE}: reads all of the task when it is asked for later"):
            client, context = await client_for(http, "apiKey", KEY)
            task = MessageToDict(await client.get_task(GetTaskRequest(id=events[0]["task"]["id"]), context=context))
            equal(read([{"task": task}], protolabs_a2a.parse_cost), SENT["costs"])
            equal(read([{"task": task}], protolabs_a2a.parse_tool_call), SENT["toolCalls"])
            equal(read([{"task": task}], protolabs_a2a.parse_confidence), [SENT["confidence"], SENT["chart"]])
    done()


asyncio.run(main())
