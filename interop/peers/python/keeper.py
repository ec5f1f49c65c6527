"""An agent of the reference that keeps lines of text, and saves, restores and logs them through grants: PORT.

Its tasks are `write NAME TEXT` and `read NAME`.
"""
import json
import sys
import tempfile
from pathlib import Path

from agentenv_protocol import transfers
from agentenv_protocol.a2a_agent import (
    SNAPSHOT_V1, AgentEnvAgent, AgentIdentity, NamespaceChangelogEnableRequest, ObjectChangelogApplyRequest,
    ObjectSnapshotLoadRequest, ObjectSnapshotSaveRequest, TaskRequest, TaskResult, a2a_agent, extension,
)


async def fetched(source):
    with tempfile.TemporaryDirectory() as directory:
        target = Path(directory) / "object"
        await transfers.download(source, target)
        return json.loads(target.read_bytes())


@a2a_agent(identity=AgentIdentity(name="keeper", description="Keeps lines.", version="1.0.0"))
class Keeper(AgentEnvAgent):
    def __init__(self):
        self.lines = {}
        self.calls = 0
        self.changelog = None

    async def run(self, request: TaskRequest) -> TaskResult:
        verb, name, *text = request.parts[0].text.split(" ", 2)
        if verb == "read":
            return TaskResult.text(self.lines.get(name, "nothing"))
        self.lines[name] = text[0]
        if self.changelog is not None:
            await self.changelog.upload(f"{self.calls:06}.json", json.dumps({name: text[0]}).encode())
        self.calls += 1
        return TaskResult.text(f"wrote {name}")

    @extension(SNAPSHOT_V1.save)
    async def save(self, request: ObjectSnapshotSaveRequest):
        content = json.dumps(self.lines).encode()
        trajectory = await transfers.upload(request.objects.trajectory, content)
        objects = {"trajectory": trajectory}
        if request.objects.workspace is not None:
            objects["workspace"] = await transfers.upload(request.objects.workspace, b"workspace")
        return {"context_id": request.context_id, "objects": objects}

    @extension(SNAPSHOT_V1.load)
    async def load(self, request: ObjectSnapshotLoadRequest):
        self.lines = await fetched(request.objects.trajectory)
        return {"context_id": request.target_context_id or "restored"}

    @extension(SNAPSHOT_V1.changelog.enable)
    async def enable(self, request: NamespaceChangelogEnableRequest):
        self.changelog = transfers.NamespaceUploader(request.write_namespace)
        return {"roots": request.roots or ["/lines"]}

    @extension(SNAPSHOT_V1.changelog.apply)
    async def apply(self, request: ObjectChangelogApplyRequest):
        for increment in request.increments:
            self.lines.update(await fetched(increment.object))
        return {"count": len(request.increments), "context_id": request.target_context_id}


Keeper().serve(host="127.0.0.1", port=int(sys.argv[1]), log_level="warning")
