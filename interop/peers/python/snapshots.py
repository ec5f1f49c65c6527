"""The reference's models and client at an agent's snapshots, told what to do: a line of JSON in, a line of JSON out.

Requests are made, and answers read, by the models of `agentenv_protocol`.
"""
import asyncio
import json
import sys

import httpx
from agentenv_protocol import a2a_agent

SNAPSHOT = "urn:agentenv:snapshot/v1"

operations = {
    "save": ("save", a2a_agent.ObjectSnapshotSaveRequest, a2a_agent.ObjectSnapshotSaveResponse),
    "load": ("load", a2a_agent.ObjectSnapshotLoadRequest, a2a_agent.ObjectSnapshotLoadResponse),
    "enable": ("enable-changelog", a2a_agent.NamespaceChangelogEnableRequest, a2a_agent.NamespaceChangelogEnableResponse),
    "apply": ("apply-changelog", a2a_agent.ObjectChangelogApplyRequest, a2a_agent.ObjectChangelogApplyResponse),
}


def operation(card, name):
    """Where the card says that an operation is. A release that has no lookup of its own gets the same by hand."""
    entry = next(entry for entry in card["capabilities"]["extensions"] if entry["uri"] == SNAPSHOT)
    method = entry["params"]["methods"][name]
    return method["method"], method.get("path") or method.get("endpoint") or entry["params"]["endpoint"]


async def call(message):
    name, request, response = operations[message["step"]]
    # a request is JSON before it is one of the agent's, so that no model of ours stands in between
    body = request.model_validate_json(json.dumps(message["request"])).model_dump(mode="json", exclude_none=True)
    async with httpx.AsyncClient(base_url=message["url"], timeout=30) as http:
        card = (await http.get("/.well-known/agent-card.json")).raise_for_status().json()
        verb, path = operation(card, name)
        answer = await http.request(verb, path, json=body)
        if answer.status_code >= 400:
            return {"status": answer.status_code, "text": answer.text}
        return {"value": response.model_validate_json(answer.text).model_dump(mode="json", exclude_none=True)}


async def main():
    while line := await asyncio.to_thread(sys.stdin.readline):
        try:
            answer = await call(json.loads(line))
        except Exception as error:
            answer = {"crash": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


asyncio.run(main())
