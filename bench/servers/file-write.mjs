// The floor of a staging store: a request's body into a file, then its name, and nothing else: `PORT DIRECTORY`.
import { createWriteStream } from "node:fs"
import { rename } from "node:fs/promises"
import { createServer } from "node:http"
import { join } from "node:path"
import { pipeline } from "node:stream/promises"

const [port, directory] = process.argv.slice(2)

createServer(async (request, response) => {
  if (request.method === "PUT") {
    const part = join(directory, "part")
    await pipeline(request, createWriteStream(part))
    await rename(part, join(directory, "object"))
  }
  response.writeHead(200, { "content-length": 0 }).end()
}).listen(Number(port), "127.0.0.1")
