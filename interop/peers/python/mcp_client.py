"""The `mcp` package's own client against `full-env`: BASE_URL CALLS."""
import asyncio
import sys
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta

import httpx
from mcp import ClientSession, types
from mcp.client.streamable_http import streamablehttp_client
from mcp.shared.exceptions import McpError

from check import check, done, equal, truthy

BASE = sys.argv[1]
CALLS = int(sys.argv[2])
URL = f"{BASE}/mcp"


@asynccontextmanager
async def session(headers=None, **callbacks):
    """An initialized session, its id and what the server said of itself."""
    async with streamablehttp_client(URL, headers=headers) as (read, write, session_id):
        async with ClientSession(read, write, **callbacks) as opened:
            said = await opened.initialize()
            yield opened, session_id(), said


async def lists():
    async with session() as (client, session_id, said):
        async with check("initialize opens a session of 2025-11-25"):
            equal(said.protocolVersion, "2025-11-25")
            equal(said.serverInfo.name, "parcels")
            truthy(session_id, "no session id")
        async with check("ping"):
            await client.send_ping()
        async with check("tools/list: names, schemas, annotations, _meta"):
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            equal(sorted(tools), ["ask_label", "count_shelf", "interrupted", "parcels_weigh", "refuse", "report", "slow",
                                  "who_am_i"])
            weigh = tools["parcels_weigh"]
            equal(weigh.description, "Weighs a parcel.")
            equal(weigh.inputSchema["required"], ["label"])
            equal(weigh.annotations.readOnlyHint, True)
            equal(weigh.meta, {"parcels.io/shelf": "b2"})
            equal(sorted(tools["count_shelf"].outputSchema["properties"]), ["count", "shelf"])
        async with check("resources: list, templates, read"):
            equal([str(item.uri) for item in (await client.list_resources()).resources], ["parcels://note"])
            templates = (await client.list_resource_templates()).resourceTemplates
            equal([item.uriTemplate for item in templates], ["parcels://shelf/{shelf}"])
            equal((await client.read_resource("parcels://note")).contents[0].text, "fragile")
            equal((await client.read_resource("parcels://shelf/b2")).contents[0].text, '{"shelf":"b2","count":0}')
        async with check("prompts: list, get"):
            equal([item.name for item in (await client.list_prompts()).prompts], ["sort"])
            equal((await client.get_prompt("sort", {"by": "weight"})).messages[0].content.text,
                  "Sort the parcels by weight.")


async def calls():
    async with session() as (client, _, _):
        async with check("tools/call: text, a default, an unknown argument"):
            equal((await client.call_tool("parcels_weigh", {"label": "a"})).content[0].text, "a weighs 3")
            equal((await client.call_tool("parcels_weigh", {"label": "a", "times": 2})).content[0].text, "a weighs 6")
            equal((await client.call_tool("parcels_weigh", {"label": "a", "more": 1})).content[0].text, "a weighs 3")
        async with check("structured output that its schema admits"):
            result = await client.call_tool("count_shelf", {"shelf": "b2"})
            equal(result.structuredContent, {"shelf": "b2", "count": 0})
            equal(result.isError, False)
        async with check("a failure is a result with its fields"):
            result = await client.call_tool("refuse", {"label": "crate"})
            equal(result.isError, True)
            for key, value in {"code": "stock_empty", "retryable": True, "hint": "restock first"}.items():
                equal(result.structuredContent[key], value)
            truthy("no crate left" in result.content[0].text, result.content[0].text)
        async with check("wrong arguments and an unknown tool are told without an exception of the server"):
            truthy((await client.call_tool("parcels_weigh", {"label": 3})).isError, "no error")
            try:
                truthy((await client.call_tool("nothing")).isError, "no error")
            except McpError as error:
                equal(error.error.code, types.INVALID_PARAMS)
        async with check(f"{CALLS} calls at once on one session"):
            results = await asyncio.gather(*(client.call_tool("parcels_weigh", {"label": f"p{n}"}) for n in range(CALLS)))
            equal([result.content[0].text for result in results], [f"p{n} weighs 3" for n in range(CALLS)])
        async with check("progress while a call runs"):
            steps = []

            async def heard(progress, total, message):
                steps.append((progress, total, message))

            result = await client.call_tool("report", {"steps": 3}, progress_callback=heard)
            equal(result.content[0].text, "3 steps")
            equal(steps, [(float(n), 3.0, f"step {n}") for n in (1, 2, 3)])


async def callbacks():
    logs = []

    async def logged(params):
        logs.append((params.level, params.data))

    async def asked(context, params):
        return types.ElicitResult(action="accept", content={"label": params.message})

    async with session(logging_callback=logged, elicitation_callback=asked) as (client, _, _):
        async with check("log messages"):
            await client.set_logging_level("info")
            await client.call_tool("report", {"steps": 2})
            equal(logs, [("info", {"step": 1}), ("info", {"step": 2})])
        async with check("a level that admits none"):
            logs.clear()
            await client.set_logging_level("error")
            await client.call_tool("report", {"steps": 2})
            equal(logs, [])
        async with check("elicitation"):
            equal((await client.call_tool("ask_label")).content[0].text, "accept Which label?")
    async with session() as (client, _, _):
        async with check("a client that can't be asked"):
            equal((await client.call_tool("ask_label")).isError, True)


async def interruptions(client):
    return (await client.call_tool("interrupted")).structuredContent["result"]


async def cancels():
    async with session() as (client, _, _):
        async with check("a call that times out leaves the session usable"):
            try:
                await client.call_tool("slow", {"seconds": 20}, read_timeout_seconds=timedelta(seconds=0.3))
                raise AssertionError("no timeout")
            except McpError as error:
                equal(error.error.code, httpx.codes.REQUEST_TIMEOUT)
            equal((await client.call_tool("parcels_weigh", {"label": "a"})).content[0].text, "a weighs 3")
        async with check("notifications/cancelled interrupts the call"):
            before = await interruptions(client)
            request = client._request_id
            call = asyncio.create_task(
                client.call_tool("slow", {"seconds": 20}, read_timeout_seconds=timedelta(seconds=0.6)))
            await asyncio.sleep(0.3)
            await client.send_notification(types.ClientNotification(types.CancelledNotification(
                params=types.CancelledNotificationParams(requestId=request, reason="enough"))))
            try:
                await call
                raise AssertionError("a cancelled call was answered")
            except McpError:
                pass
            equal(await interruptions(client), before + 1)


async def sessions():
    async with AsyncExitStack() as stack:
        first, first_id, _ = await stack.enter_async_context(session({"AgentEnv-Role": "Clerk"}))
        second, second_id, _ = await stack.enter_async_context(session())
        async with check("two sessions at once, each with an id and a role of its own"):
            truthy(first_id != second_id, "one id for two sessions")
            equal((await first.call_tool("who_am_i")).structuredContent, {"role": "Clerk", "session": first_id})
            equal((await second.call_tool("who_am_i")).structuredContent, {"role": None, "session": second_id})
        async with check("a slow call of one session holds the other up by nothing"):
            slow = asyncio.create_task(first.call_tool("slow", {"seconds": 1}))
            await asyncio.sleep(0.1)
            equal((await second.call_tool("parcels_weigh", {"label": "b"})).content[0].text, "b weighs 3")
            equal(slow.done(), False)
            equal((await slow).content[0].text, "done at last")
    async with check("a closed session is unknown afterwards"):
        async with httpx.AsyncClient() as http:
            response = await http.post(
                URL, json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
                headers={"Mcp-Session-Id": first_id, "Accept": "application/json, text/event-stream"})
            equal(response.status_code, 404)


async def main():
    await lists()
    await calls()
    await callbacks()
    await cancels()
    await sessions()
    done()


asyncio.run(main())
