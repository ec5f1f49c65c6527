"""The reference's own clients against our servers: BASE_URL of full-env, error-env, ext-env, moved-env, uploading-env, intake-env."""
import asyncio
import sys
from datetime import datetime, timedelta, timezone

import httpx

import agentenv_protocol as ap
from agentenv_protocol import client
from agentenv_protocol.types import DataPart

from check import check, done, equal, truthy

FULL, ERRORS, EXT, MOVED, UPLOADING, INTAKE = sys.argv[1:7]
NEWEST = hasattr(ap, "ToolSession")


async def raised(kind, awaitable):
    try:
        await awaitable
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__}")


async def cards():
    async with check("the card: name, operations, extensions, tools"):
        card = await client.get_card(FULL)
        equal(card["name"], "parcels")
        truthy(client.find_extension(card, "urn:parcels:kiln/v2"), "no kiln")
        equal(client.find_extension_method(card, "urn:parcels:kiln/v2", "get")["method"], "GET")
        equal(client.find_tool(card, "parcels_weigh")["description"], "Weighs a parcel.")
        equal(client.find_child(card, "nobody"), None)
        equal(client.intake_declaration(card), None)
    async with check("the card is a card to the reference's own model"):
        from agentenv_protocol.types import EnvironmentCard
        for url in (FULL, ERRORS, EXT, MOVED, UPLOADING, INTAKE):
            EnvironmentCard.model_validate(await client.get_card(url))
    async with check("intake_declaration"):
        equal(client.intake_declaration(await client.get_card(INTAKE))["add"][0]["format"], "parcels/1")
    async with check("supports_v1, and not where there is no card"):
        equal(await client.supports_v1(FULL), True)
        equal(await client.supports_v1(f"{FULL}/nowhere"), False)
        equal(await client.supports_v1("http://127.0.0.1:1"), False)
    async with check("mcp_path: where the card says"):
        equal(client.mcp_path(await client.get_card(FULL)), "/mcp")
        equal(client.mcp_path(await client.get_card(MOVED)), "/tools/mcp")


async def data():
    async with check("data plane: reset, add, get"):
        await client.reset_data(FULL)
        equal((await client.get_data(FULL)).parts[0].data, {"parcels": []})
        await client.add_data(FULL, [DataPart(data={"parcels": ["a"]}), DataPart(data={"parcels": ["b", "c"]})])
        equal((await client.get_data(FULL)).parts[0].data, {"parcels": ["a", "b", "c"]})
        await client.reset_data(FULL)
        equal((await client.get_data(FULL)).parts[0].data, {"parcels": []})
    async with check("data plane: a refused add is the server's error"):
        error = await raised(RuntimeError, client.add_data(FULL, [DataPart(data={"parcels": 3})]))
        truthy(str(error).startswith("data/add failed: "), str(error))
    async with check("data plane: an operation that isn't there"):
        await raised(RuntimeError, client.reset_data(ERRORS))
    if NEWEST:
        async with check("data/get with a grant"):
            from agentenv_protocol.transfers import HttpPostPolicyGrant, WriteNamespaceGrant
            grant = WriteNamespaceGrant(
                root_path="run/1", expires_at=datetime.now(timezone.utc) + timedelta(minutes=5), max_objects=3,
                max_object_bytes=1000, max_total_bytes=2000,
                write=HttpPostPolicyGrant(kind="http-post-policy", url="https://store.example/up", fields={}, path_field="key", file_field="file"))
            equal((await client.get_data(UPLOADING)).parts[0].data, {"granted": False})
            part = (await client.get_data(UPLOADING, write_namespace=grant)).parts[0]
            equal(ap.uploaded_object_path(part), "export/state.json")


async def extensions():
    async with check("extensions: POST, GET with a query, by method, without one"):
        card = await client.get_card(EXT)
        equal(await client.invoke_extension(EXT, card, "urn:parcels:tag/v1", {"label": "a", "upper": True}), {"tagged": "A"})
        equal(await client.invoke_extension(EXT, card, "urn:parcels:status/v1"), {"up": True})
        equal(await client.invoke_extension(EXT, card, "urn:parcels:repeat/v1", {"text": "ab", "count": 2}), {"out": "abab"})
        full = await client.get_card(FULL)
        equal(await client.invoke_extension(FULL, full, "urn:parcels:kiln/v2", {"heat": 900}, method="set"), {"heat": 900})
        equal(await client.invoke_extension(FULL, full, "urn:parcels:kiln/v2"), {"heat": 900})
    async with check("extensions: what isn't advertised is refused before any request"):
        await raised(ValueError, client.invoke_extension(EXT, await client.get_card(EXT), "urn:parcels:nothing/v1"))
        card = await client.get_card(FULL)
        await raised(ValueError, client.invoke_extension(FULL, card, "urn:parcels:kiln/v2", method="melt"))
    async with check("extensions: statuses of failures"):
        card = await client.get_card(ERRORS)
        for label, status in {"sold-out": 409, "adrift": 502, "left": 410, "no": 400, "crash": 500, "chained": 500}.items():
            error = await raised(httpx.HTTPStatusError,
                                 client.invoke_extension(ERRORS, card, "urn:parcels:ship/v1", {"label": label}))
            equal(error.response.status_code, status)
        error = await raised(httpx.HTTPStatusError,
                             client.invoke_extension(EXT, await client.get_card(EXT), "urn:parcels:level/v1", {"value": 9}))
        equal(error.response.status_code, 400)
    if NEWEST:
        async with check("extensions: the fields of failures"):
            card = await client.get_card(ERRORS)
            fields = {}
            for label in ("sold-out", "adrift", "left", "chained"):
                error = await raised(ap.ExtensionCallError,
                                     client.invoke_extension(ERRORS, card, "urn:parcels:ship/v1", {"label": label}))
                fields[label] = (error.code, error.detail, error.retryable, error.applied, error.hint)
            equal(fields["sold-out"], ("stock_empty", "no parcels left", True, "no", "restock first"))
            equal(fields["adrift"], ("courier_lost", "the courier is silent", True, "unknown", None))
            equal(fields["left"], ("already_shipped", "it left this morning", False, "yes", None))
            equal(fields["chained"], ("extension_failed", "outer failure", False, "unknown", None))
            error = await raised(ap.ExtensionCallError,
                                 client.invoke_extension(ERRORS, card, "urn:parcels:track/v1", {"number": 7}))
            equal((error.response.status_code, error.code, error.detail), (404, "unknown_parcel", "no parcel 7"))


async def tool_sessions():
    path = client.mcp_path(await client.get_card(MOVED))
    async with check("ToolSession: where the card says"):
        async with ap.ToolSession(mcp_url=f"{MOVED}{path}") as session:
            equal((await session.call_tool("ring")).text, "rung")
    async with ap.ToolSession(mcp_url=f"{FULL}/mcp", role="Clerk", timeout=5) as session:
        async with check("ToolSession: revision, session, list"):
            equal(session.protocol_version, "2025-11-25")
            truthy(session.session_id, "no session id")
            equal({tool.name for tool in await session.list_tools()} >= {"parcels_weigh", "refuse"}, True)
        async with check("ToolSession: call, failure, role"):
            equal((await session.call_tool("parcels_weigh", {"label": "a"})).text, "a weighs 3")
            result = await session.call_tool("refuse", {"label": "crate"})
            equal((result.isError, "no crate left" in result.text), (True, True))
            truthy('"Clerk"' in (await session.call_tool("who_am_i")).text, "the role is lost")
        async with check("ToolSession: an answer that comes as an event stream"):
            equal((await session.call_tool("report", {"steps": 3})).text, "3 steps")
        async with check("ToolSession: calls at once"):
            texts = await asyncio.gather(*(session.call_tool("parcels_weigh", {"label": f"p{n}"}) for n in range(20)))
            equal([result.text for result in texts], [f"p{n} weighs 3" for n in range(20)])
        session.timeout = 0.3
        async with check("ToolSession: a timeout leaves the session usable, and interrupts the call"):
            await raised(TimeoutError, session.call_tool("slow", {"seconds": 20}))
            session.timeout = 5
            equal((await session.call_tool("parcels_weigh", {"label": "a"})).text, "a weighs 3")
            for _ in range(50):
                if (await session.call_tool("interrupted")).text != "0":
                    break
                await asyncio.sleep(0.05)
            else:
                raise AssertionError("the call runs on")
        async with check("ToolSession: a session that the server has ended"):
            async with httpx.AsyncClient() as http:
                await http.delete(f"{FULL}/mcp", headers={"Mcp-Session-Id": session.session_id})
            error = await raised(ap.ToolSessionError, session.list_tools())
            truthy("no longer knows session" in str(error), str(error))


async def main():
    await cards()
    await data()
    await extensions()
    if NEWEST:
        await tool_sessions()
    done()


asyncio.run(main())
