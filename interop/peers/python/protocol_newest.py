"""What 0.1.379 adds for environments, by its own clients against our servers: BASE_URL of error-env, tools-env, served-tools-env,
hook-env, multi-env, served-env, access-env, relay-env."""
import asyncio
import sys

import agentenv_protocol as ap
import httpx
from agentenv_protocol import client

from check import check, done, equal, truthy

ERRORS, TOOLS, SERVED_TOOLS, HOOKS, MULTI, SERVED, ACCESS, RELAY = sys.argv[1:9]


def session(url, role=None, path="/mcp", timeout=10.0):
    return ap.ToolSession(mcp_url=f"{url}{path}", role=role, timeout=timeout)


async def raised(kind, awaitable):
    try:
        await awaitable
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__}")


async def invoke(url, uri, params=None, method=None):
    return await client.invoke_extension(url, await client.get_card(url), uri, params, method=method)


async def names(url, role=None):
    async with session(url, role) as opened:
        return {tool.name for tool in await opened.list_tools()}


async def call(url, tool, arguments=None, role=None):
    async with session(url, role) as opened:
        return await opened.call_tool(tool, arguments)


async def errors():
    async with check("ERR: a tool's failures, by text"):
        async with session(ERRORS) as opened:
            said = {label: await opened.call_tool("ship_later", {"label": label})
                    for label in ("a", "sold-out", "adrift", "left", "no", "crash", "chained")}
        equal(said["a"].text, "queued a")
        equal([result.isError for result in said.values()], [False] + [True] * 6)
        equal(said["sold-out"].text, "stock_empty: no parcels left")
        equal(said["chained"].text, "inner_code: inner failure")
    async with check("ERR: what does not bind"):
        error = await raised(ap.ExtensionCallError, invoke(ERRORS, "urn:parcels:ship/v1", {"labels": "a"}))
        equal((error.response.status_code, error.code, error.retryable, error.applied, error.hint),
              (400, "invalid_params", False, "no", None))


async def tools():
    async with check("TOOL: all kinds of results"):
        async with session(TOOLS) as opened:
            equal((await opened.call_tool("weigh", {"label": "a"})).text, "a weighs 3")
            equal((await opened.call_tool("note")).text, "fragile")
            photo = await opened.call_tool("photo")
            equal([block["type"] for block in photo.content], ["text", "image"])
            equal((await opened.call_tool("plumb")).text, "plumbed")
            equal((await opened.call_tool("parcels_retire", {"label": "a"})).text, "retired a")
            truthy('"count":4' in (await opened.call_tool("shelf", {"shelf": "q"})).text.replace(" ", ""), "no count")
    async with check("TOOL: a card's tool has three fields"):
        for tool in (await client.get_card(TOOLS))["capabilities"]["tools"]:
            equal(set(tool), {"name", "description", "inputSchema"})
    async with check("TOOL: a served subset, in its order and words"):
        async with session(SERVED_TOOLS) as opened:
            equal([(tool.name, tool.description) for tool in await opened.list_tools()],
                  [("parcels_retire", "Retires a parcel."), ("weigh", "Weighs, slowly.")])
            equal((await opened.call_tool("note")).isError, True)
        card = await client.get_card(SERVED_TOOLS)
        equal([tool["name"] for tool in card["capabilities"]["tools"]], ["parcels_retire", "weigh"])
        equal(await invoke(SERVED_TOOLS, "urn:parcels:mounted/v1"),
              {"name": "parcels", "tools": {"parcels_retire": "Retires a parcel.", "weigh": "Weighs, slowly."}})
    async with check("TOOL: a description that changes, on the card and in an open session"):
        async with session(TOOLS) as opened:
            equal(await invoke(TOOLS, "urn:parcels:describe/v1", {"name": "weigh", "description": "New words."}),
                  {"described": "weigh"})
            equal({tool.name: tool.description for tool in await opened.list_tools()}["weigh"], "New words.")
        equal(client.find_tool(await client.get_card(TOOLS), "weigh")["description"], "New words.")
        error = await raised(ap.ExtensionCallError, invoke(TOOLS, "urn:parcels:describe/v1", {"name": "x", "description": "y"}))
        equal((error.response.status_code, error.code), (500, "extension_failed"))


async def hooks():
    async with check("HOOK: it lets through, answers, refuses and fails"):
        async with session(HOOKS) as opened:
            equal((await opened.call_tool("ring", {"label": "x"})).text, "rang x 1")
            cached = await opened.call_tool("ring", {"label": "cached"})
            equal((cached.text, cached.isError), ("from the hook", False))
            wrong = await opened.call_tool("ring", {"label": "wrong"})
            equal((wrong.isError, "rang" in wrong.text), (True, False))
            boom = await opened.call_tool("ring", {"label": "boom"})
            equal((boom.isError, "hook failure" in boom.text), (True, True))
            equal((await opened.call_tool("ring", {"label": "coded"})).text, "hook_refused: not this one")
            equal((await opened.call_tool("gong")).isError, True)
            equal((await opened.call_tool("ring", {"label": 3})).isError, True)
        barred = await call(HOOKS, "ring", {"label": "x"}, role="barred")
        equal((barred.text, barred.isError), ("the door stays shut", True))
    async with check("HOOK: what it has seen"):
        calls = (await invoke(HOOKS, "urn:parcels:calls/v1"))["calls"]
        equal([entry["arguments"].get("label") for entry in calls], ["x", "cached", "wrong", "boom", "coded", 3, "x"])
        equal([entry["role"] for entry in calls], [None] * 6 + ["barred"])


async def multi():
    async with check("MULTI: operations at their own endpoints and verbs"):
        equal(await invoke(MULTI, "urn:parcels:kiln/v2", method="get"), {"heat": 20})
        equal(await invoke(MULTI, "urn:parcels:kiln/v2", {"heat": 900}, "set"), {"heat": 900, "note": "none"})
        equal(await invoke(MULTI, "urn:parcels:kiln/v2", method="get"), {"heat": 900})
        truthy(not await invoke(MULTI, "urn:parcels:kiln/v2", method="vent"), "vent answers something")
        equal(await invoke(MULTI, "urn:parcels:kiln/v2", method="get"), {"heat": 20})
        equal(await invoke(MULTI, "urn:agentenv:bell/v1"), {"rung": True})
        equal(await invoke(MULTI, "urn:parcels:plain", method="look"), {"seen": True})
        equal(await invoke(MULTI, "urn:parcels:single/v1"), {"single": True})
    async with check("MULTI: the card's entries"):
        card = await client.get_card(MULTI)
        kiln = client.find_extension(card, "urn:parcels:kiln/v2")
        equal((kiln["description"], kiln["params"]["max_heat"], kiln["params"]["units"]), ("Reads or sets the kiln.", 1300, ["c"]))
        equal({name: (entry["method"], entry["endpoint"]) for name, entry in kiln["params"]["methods"].items()}, {
            "get": ("GET", "/agentenv/ext/parcels/kiln/get"), "set": ("POST", "/agentenv/ext/parcels/kiln/set"),
            "vent": ("PUT", "/kiln/vent")})
        equal(client.find_extension(card, "urn:agentenv:bell/v1")["required"], True)
        equal(client.find_extension(card, "urn:parcels:promise/v1")["params"], {"days": 2})
    async with check("MULTI: a served subset"):
        card = await client.get_card(SERVED)
        equal(set(client.find_extension(card, "urn:parcels:kiln/v2")["params"]["methods"]), {"get", "vent"})
        equal(client.find_extension(card, "urn:parcels:single/v1"), None)
        await raised(ValueError, invoke(SERVED, "urn:parcels:kiln/v2", {"heat": 1}, "set"))
        equal(sorted(card["capabilities"]["operations"]), ["data/get", "data/reset"])
        await raised(RuntimeError, client.add_data(SERVED, [ap.DataPart(data={})]))
        async with httpx.AsyncClient() as http:
            for path in ("/agentenv/ext/parcels/kiln/set", "/agentenv/ext/single"):
                equal((await http.post(f"{SERVED}{path}", json={"heat": 1})).status_code, 404)


async def access():
    async def change(action, role, tools):
        return await invoke(ACCESS, f"urn:agentenv:{action}-tool/v1", {"role": role, "tools": tools}, action)

    async with check("ACC: hidden by default, for everyone"):
        equal(await names(ACCESS), {"open_door", "close_door"})
        equal((await call(ACCESS, "back_door")).text.split(":")[0], "permission_denied")
    async with check("ACC: rules of a role, in an open session"):
        async with session(ACCESS, "clerk") as opened:
            equal(await change("disable", "clerk", ["open_door", "unknown"]),
                  {"role": "clerk", "disabled": ["open_door", "unknown"], "allowed": []})
            equal({tool.name for tool in await opened.list_tools()}, {"close_door"})
            refused = await opened.call_tool("open_door")
            equal((refused.isError, refused.text.split(":")[0]), (True, "permission_denied"))
            equal(await change("enable", "clerk", ["back_door"]),
                  {"role": "clerk", "disabled": ["open_door", "unknown"], "allowed": ["back_door"]})
            equal((await opened.call_tool("back_door")).text, "back door opened")
        equal(await names(ACCESS), {"open_door", "close_door"})
        equal((await call(ACCESS, "open_door", role="porter")).text, "opened for porter")
    async with check("ACC: rules of every role"):
        equal(await change("disable", "*", "*"), {"role": "*", "disabled": ["*"], "allowed": []})
        equal(await names(ACCESS, "clerk"), set())
        await change("enable", "clerk", ["open_door"])
        equal(await names(ACCESS, "clerk"), {"open_door"})
        equal(await change("enable", "*", "*"), {"role": "*", "disabled": [], "allowed": ["*"]})
        equal(await names(ACCESS, "clerk"), {"open_door", "close_door"})
    async with check("ACC: what is refused"):
        for body in ({"tools": "*"}, {"role": "", "tools": "*"}, {"role": "a"}, {"role": "a", "tools": "some"}, {"role": "a", "tools": [1]}):
            error = await raised(ap.ExtensionCallError, invoke(ACCESS, "urn:agentenv:disable-tool/v1", body))
            equal((error.response.status_code, error.code), (400, "invalid_params"))
    async with check("ACC: the hook saw the calls that were allowed"):
        equal(await invoke(ACCESS, "urn:parcels:hooked/v1"), {"hooked": ["back_door", "open_door"]})


async def sessions():
    fake = "/agentenv/ext/fake_mcp"
    async with check("TSESS: roles and results"):
        equal((await call(RELAY, "who", role="clerk")).text, "role=clerk session=yes")
        mixed = await call(RELAY, "mixed")
        equal((mixed.text, [block["type"] for block in mixed.content]), ("top\nbottom", ["text", "image", "text"]))
        equal((await call(RELAY, "ship_parcel", {"label": "sold-out"})).text, "stock_empty: no parcels left")
    async with check("TSESS: 50 calls at once"):
        async with session(RELAY) as opened:
            texts = await asyncio.gather(*(opened.call_tool("ship_parcel", {"label": f"p{n}"}) for n in range(50)))
            equal([result.text for result in texts], [f"shipped p{n}" for n in range(50)])
    async with check("TSESS: an endpoint of few words"):
        async with session(RELAY, "clerk", fake) as opened:
            equal((opened.session_id, opened.protocol_version), (None, "2025-03-26"))
            equal([tool.name for tool in await opened.list_tools()], ["first", "second"])
            equal((await opened.call_tool("hi")).text, "called hi")
    for tool in ("rpc-error", "no-result", "batch", "textless"):
        async with check(f"TSESS: {tool} is a session error"):
            async with session(RELAY, path=fake) as opened:
                truthy("tools/call" in str(await raised(ap.ToolSessionError, opened.call_tool(tool))), "the method isn't named")
    async with check("TSESS: opened again, and closed"):
        opened = session(RELAY)
        await raised(RuntimeError, opened.list_tools())
        async with opened:
            first = opened.session_id
            await opened.open()
            truthy(opened.session_id not in (None, first), "the session is the same")
            equal((await opened.call_tool("who")).text, "role=none session=yes")
    async with check("TSESS: an HTTP error"):
        error = await raised(ap.ToolSessionError, session(RELAY, path="/agentenv/ext/ship").open())
        truthy("initialize" in str(error) and "400" in str(error) and "invalid_params" in str(error), str(error))


async def relayed():
    async with check("CLIENT: our own client in our own environment"):
        answer = await invoke(RELAY, "urn:parcels:invoke/v1", {"uri": "urn:parcels:ship/v1", "params": {"label": "left"}})
        equal(answer, {"raised": {"status": 410, "code": "already_shipped", "detail": "it left this morning",
                                  "retryable": False, "applied": "yes", "hint": None}})
        equal(await invoke(RELAY, "urn:parcels:invoke/v1", {"uri": "urn:parcels:none/v1"}), {"refused": True})
    async with check("CLIENT: a method that is promised and not there"):
        error = await raised(ap.ExtensionCallError, invoke(RELAY, "urn:parcels:gone/v1"))
        equal((error.response.status_code, error.code, error.retryable, error.applied, error.hint),
              (404, None, False, "unknown", None))
    async with check("CLIENT: the first method, by query"):
        equal(await invoke(RELAY, "urn:parcels:stock/v1", {"shelf": "b2"}), {"shelf": "b2"})


async def main():
    for area in (errors, tools, hooks, multi, access, sessions, relayed):
        await area()
    done()


asyncio.run(main())
